import re
from inspect import getmembers, isclass

import pytest

from mcp_core import errors, instructions
from mcp_core.errors import (
    Conflict,
    ConsentRequired,
    DeadlineExceeded,
    DeclarationError,
    InvalidArguments,
    NotFound,
    PermissionDenied,
    RateLimited,
    ToolError,
    Unavailable,
    UnknownTool,
)

ROW = re.compile(r"^[ │]*[├└]── (\w+) +(\w+) .*?(\w+)$", re.MULTILINE)


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes():
    written = {name: (error_type, kind) for name, error_type, kind in ROW.findall(errors.__doc__ or "")}
    classes = {
        name: (of.error_type, of.kind)
        for name, of in getmembers(errors, isclass)
        if issubclass(of, ToolError) and of is not ToolError
    }
    assert written == classes


def test_every_class_of_the_module_stands_in_the_docstring():
    words = set(re.findall(r"\w+", errors.__doc__ or ""))
    assert {n for n, of in getmembers(errors, isclass) if of.__module__ == errors.__name__} <= words


def test_each_tool_error_has_a_type_of_its_own_and_hangs_from_the_root():
    classes = [of for of in ToolError.__subclasses__() if of.__module__ == errors.__name__]
    assert len({of.error_type for of in classes}) == len(classes)
    assert not issubclass(UnknownTool, ToolError)
    assert not issubclass(DeclarationError, ToolError)


@pytest.mark.requirement("RES-6")
@pytest.mark.parametrize(
    ("error", "instruction"),
    [
        (ToolError("x"), instructions.PRESENT_ERROR),
        (
            NotFound("x"),
            "Consider the next step that the error names. If it names none, present it to the user.",
        ),
        (Conflict("x"), instructions.PRESENT_ERROR),
        (DeadlineExceeded("x"), instructions.PRESENT_ERROR),
        (Unavailable("x"), instructions.PRESENT_ERROR),
        (PermissionDenied("x"), f"{instructions.PRESENT_ERROR} {instructions.NO_AUTOMATIC_FIX}"),
        (ConsentRequired("x"), instructions.REQUIRE_CONSENT),
        (InvalidArguments("x"), "Correct the arguments named in the error, and call again."),
        (RateLimited("x", retry_after=2.6), "Wait 3 seconds before calling this tool again."),
    ],
)
def test_each_error_tells_the_agent_what_to_do_in_the_standard_words(error: ToolError, instruction: str):
    assert (str(error), error.message, error.instruction) == ("x", None, instruction)


def test_the_raiser_can_speak_to_the_person_and_to_the_agent():
    error = NotFound("No deck 'x'.", message="There is no such deck.", instruction="Ask which deck.")
    assert (str(error), error.message, error.instruction) == (
        "No deck 'x'.",
        "There is no such deck.",
        "Ask which deck.",
    )


def test_invalid_arguments_names_the_fields():
    error = InvalidArguments("a and b are wrong", fields=["a", "b"], message="Please check.")
    assert (error.fields, error.message) == (("a", "b"), "Please check.")


def test_rate_limited_says_how_long_to_wait():
    assert RateLimited("slow down", retry_after=12.0).retry_after == 12.0


def test_an_unknown_tool_is_answered_with_the_nearest_or_the_way_to_all():
    near = UnknownTool("lst_notes", ["list_notes", "last_note"])
    assert str(near) == "Unknown tool: 'lst_notes'. Did you mean 'list_notes' or 'last_note'?"
    assert near.nearest == ("list_notes", "last_note")
    assert str(UnknownTool("zzz", [])) == "Unknown tool: 'zzz'. tools/list shows all."


def test_an_unknown_name_of_any_length_and_kind_is_quoted_in_short():
    shown = repr("a\n" * 64)
    assert str(UnknownTool("a\n" * 1000, [])) == f"Unknown tool: {shown}. tools/list shows all."


def test_a_declaration_error_lists_every_problem():
    error = DeclarationError(["a: tags: is empty", "a: name: is long"])
    assert (str(error), error.problems) == (
        "a: tags: is empty\na: name: is long",
        ("a: tags: is empty", "a: name: is long"),
    )
