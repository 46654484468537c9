import json
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from examples.demo import TOOLS, add, delete_note, find_notes
from mcp_core import App, Deprecation, Example, Naming, Settings, ToolArguments, tool
from mcp_core.declare.charter import CONSENT_HEADING
from mcp_core.declare.describe import compact, describe, full, schema_markdown
from mcp_core.declare.spec import spec_of
from mcp_core.registry import ToolRegistry

HEADINGS = ["## Description", "## JSON Schema", "## Usage Instructions", "## Concrete Examples"]


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int = Field(description="To the right.")
    y: int = Field(default=0, description="Up.")


# --- full ------------------------------------------------------------------------------------------


@pytest.mark.requirement("DOC-1")
def test_the_full_description_has_four_sections():
    schema = json.dumps(spec_of(add).input_schema, indent=2)
    assert full(spec_of(add)) == (
        "## Description\n"
        "Add two whole numbers.\n"
        "\n"
        "Use this when the user wants the exact sum of two whole numbers.\n"
        "\n"
        "Returns their sum.\n"
        "\n"
        "## JSON Schema\n"
        "```json\n"
        f"{schema}\n"
        "```\n"
        "\n"
        "## Usage Instructions\n"
        "```\n"
        "add(\n"
        "  a=<integer>,  # required\n"
        "  b=<integer>,  # required\n"
        ")\n"
        "```\n"
        "\n"
        "## Concrete Examples\n"
        "```\n"
        "# Two and three make five\n"
        "add(a=2, b=3)\n"
        "# -> 5\n"
        "```"
    )


@pytest.mark.requirement("DOC-1", "DOC-6")
@pytest.mark.parametrize("function", TOOLS, ids=lambda function: function.__name__)
def test_every_example_tool_is_described_in_order_with_its_schema(function):
    spec = spec_of(function)
    lines = full(spec).splitlines()
    assert [line for line in lines if line.startswith("## ")] == HEADINGS
    assert len(lines[1]) <= 50
    start = lines.index("```json") + 1
    assert json.loads("\n".join(lines[start : lines.index("```", start)])) == spec.input_schema
    assert lines.count("```json") + lines.count("```") == 2 * (2 + len(spec.examples))


def test_an_object_is_shown_in_the_usage_without_looking_like_an_element_of_html():
    @tool
    def go(to: Annotated[Point, Field(description="Where.")], fast: Annotated[bool, Field(description="Run.")]) -> int:
        """Go to a point."""
        return to.x + fast

    assert "go(\n  to={...},  # required\n  fast=<boolean>,  # required\n)" in full(spec_of(go))


def test_the_authors_own_usage_is_shown_as_it_is_written():
    @tool
    def find(words: str):
        """Find.

        Usage:
            find(words="x")
              # or
        """

    assert '## Usage Instructions\n```\nfind(words="x")\n  # or\n```' in full(spec_of(find))


# --- compact ---------------------------------------------------------------------------------------


@pytest.mark.requirement("DOC-2", "DOC-6")
def test_the_compact_description_says_what_when_and_what_is_returned():
    assert compact(spec_of(add)) == (
        "Add two whole numbers. Use this when the user wants the exact sum of two whole numbers. Returns their sum."
    )


@pytest.mark.requirement("DOC-2", "DOC-6")
@pytest.mark.parametrize("function", TOOLS, ids=lambda function: function.__name__)
def test_every_example_tool_says_what_when_and_what_is_returned(function):
    spec = spec_of(function)
    text = compact(spec)
    assert text.startswith(spec.doc.summary)
    assert spec.doc.when in text
    assert " Returns " in text
    assert len(text) < len(full(spec)) / 2


@pytest.mark.requirement("DOC-2")
@pytest.mark.parametrize("detail", ["full", "compact"])
def test_the_server_or_its_user_chooses_and_the_full_text_stays_reachable(detail: Literal["full", "compact"]):
    wanted = describe(spec_of(add), detail)
    chosen_by_server = App("s", version="1.0.0", tools=[add], descriptions=detail)
    other: Literal["full", "compact"] = "compact" if detail == "full" else "full"
    chosen_by_user = App("s", version="1.0.0", tools=[add], descriptions=other, settings=Settings(descriptions=detail))
    for app in (chosen_by_server, chosen_by_user):
        (listed,) = app.list_tools()
        assert listed.description == wanted
        assert app.documentation("add") == full(spec_of(add))


@pytest.mark.parametrize(
    ("returns", "sentence"),
    [
        ("The ids.", "Returns the ids."),
        ("A list.", "Returns a list."),
        ("Returns the ids.", "Returns the ids."),
        ("JSON text.", "Returns JSON text."),
        ("None.", "Returns none."),
        ("X", "Returns X"),
    ],
)
def test_what_is_returned_reads_as_a_sentence(returns: str, sentence: str):
    def find():
        pass

    find.__doc__ = f"Find.\n\nReturns:\n    {returns}\n"
    assert compact(spec_of(find)) == f"Find. {sentence}"


def test_a_description_beside_the_function_replaces_the_docstring():
    text = "Adds. Use it to add. Gives a sum back, always and for ever."

    @tool(
        category="query",
        response_time="fast",
        permissions=[],
        idempotent=True,
        tags=["math"],
        description=text,
        examples=[Example("One", {}, 1)],
    )
    def one():
        """Docstring."""

    assert compact(spec_of(one)) == text
    assert full(spec_of(one)).startswith(f"## Description\n{text}\n\n## JSON Schema\n")


# --- consent and deprecation -----------------------------------------------------------------------


CONSENT = {
    "full": (
        "REQUIRES EXPLICIT USER INSTRUCTION: only call this when the user has asked for exactly this action. "
        "Set explicit_action to 'DELETE_NOTE' to state that they did. The user is asked to confirm it. "
        "Do not use it frivolously, on a guess, or as a step that the user did not ask for."
    ),
    "compact": (
        "REQUIRES EXPLICIT USER INSTRUCTION, and the user is asked to confirm: never call it frivolously or on a guess."
    ),
}


@pytest.mark.requirement("CON-2")
@pytest.mark.parametrize("detail", ["full", "compact"])
def test_consent_is_explained_and_frivolous_use_warned_against(detail: Literal["full", "compact"]):
    text = describe(spec_of(delete_note), detail)
    assert CONSENT_HEADING == "REQUIRES EXPLICIT USER INSTRUCTION"
    assert CONSENT[detail] in text
    assert CONSENT_HEADING not in (delete_note.__doc__ or "")
    assert CONSENT_HEADING not in describe(spec_of(add), detail)


@pytest.mark.requirement("CON-2")
def test_the_text_on_consent_is_generated_for_a_bare_function_too():
    class Wanted(ToolArguments):
        explicit_action: Literal["DROP_ALL"] = Field(description="Must be DROP_ALL.")

    def drop_all(args: Wanted):
        """Drop everything.

        Returns:
            How many there were.
        """

    assert ToolArguments.build_tool_description(drop_all) == (
        "Drop everything.\n"
        "\n"
        "REQUIRES EXPLICIT USER INSTRUCTION: only call this when the user has asked for exactly this action. "
        "Set explicit_action to 'DROP_ALL' to state that they did. "
        "Do not use it frivolously, on a guess, or as a step that the user did not ask for.\n"
        "\n"
        "Returns how many there were.\n"
        "\n"
        "## Arguments\n"
        "\n"
        '- **explicit_action** ("DROP_ALL", required): Must be DROP_ALL.'
    )


@pytest.mark.requirement("VER-1")
@pytest.mark.parametrize("detail", ["full", "compact"])
def test_a_deprecated_tool_says_so_with_its_replacement_and_date(detail: Literal["full", "compact"]):
    declared = spec_of(find_notes).declaration.deprecated
    assert declared == Deprecation(since="2026-09-01", replacement="list_notes", removal_date="2027-03-01")
    sentence = "DEPRECATED since 2026-09-01; use list_notes instead. Removal: 2027-03-01."
    assert sentence in describe(spec_of(find_notes), detail)


# --- names -----------------------------------------------------------------------------------------


@pytest.mark.requirement("NAM-5")
@pytest.mark.parametrize("detail", ["full", "compact"])
def test_descriptions_use_the_undecorated_name(detail: Literal["full", "compact"]):
    registry = ToolRegistry(Naming("snake", "zyx"))
    spec = registry.register(add)
    assert registry.final_name(spec) == "zyx_add"
    assert "zyx" not in describe(spec, detail)
    assert "add(a=2, b=3)" in full(spec)


# --- the schema as Markdown ------------------------------------------------------------------------


@pytest.mark.requirement("ARG-2", "DOC-6")
def test_every_kind_of_argument_reads_well():
    class Wanted(ToolArguments):
        title: str = Field(min_length=1, max_length=100, description="A title.")
        limit: int = Field(default=20, ge=1, le=100, description="How many.")
        ratio: float = Field(gt=0, lt=1, multiple_of=0.5, description="A share.")
        style: Literal["asc", "desc"] = Field(default="asc", description="Which way.")
        colour: Colour = Field(description="Which colour.")
        note: str | None = Field(default=None, description="May be left out.")
        nothing: int | None = Field(description="May be null.")
        either: int | str = Field(description="One or the other.")
        names: list[str] = Field(default_factory=list, min_length=1, max_length=3, description="Some names.")
        place: Point = Field(description="Where.")
        places: list[Point] = Field(description="Where else.")
        named: dict[str, Point] = Field(description="By name.")
        home: Point | None = Field(description="Or nowhere.")
        code: str = Field(pattern="^[A-Z]+$", description="Capitals.")
        day: date = Field(description="A day.")
        on: bool = Field(default=False, description="Whether.")
        bare: int
        anything: Any = Field(description="Whatever.")

    assert Wanted.to_schema_markdown().splitlines() == [
        "## Arguments",
        "",
        "- **title** (string, required, at least 1 character, at most 100 characters): A title.",
        "- **limit** (integer, optional, default: 20, at least 1, at most 100): How many.",
        "- **ratio** (number, required, above 0, below 1, a multiple of 0.5): A share.",
        '- **style** ("asc" | "desc", optional, default: "asc"): Which way.',
        '- **colour** ("red" | "blue", required): Which colour.',
        "- **note** (string, optional): May be left out.",
        "- **nothing** (integer or null, required): May be null.",
        "- **either** (integer or string, required): One or the other.",
        "- **names** (list of string, optional, at least 1 item, at most 3 items): Some names.",
        "- **place** (object, required): Where.",
        "  - **x** (integer, required): To the right.",
        "  - **y** (integer, optional, default: 0): Up.",
        "- **places** (list of object, required, at most 1,000 items): Where else.",
        "  - **x** (integer, required): To the right.",
        "  - **y** (integer, optional, default: 0): Up.",
        "- **named** (object, required): By name.",
        "  - **x** (integer, required): To the right.",
        "  - **y** (integer, optional, default: 0): Up.",
        "- **home** (object or null, required): Or nowhere.",
        "  - **x** (integer, required): To the right.",
        "  - **y** (integer, optional, default: 0): Up.",
        "- **code** (string, required, matching `^[A-Z]+$`): Capitals.",
        "- **day** (string (date), required): A day.",
        "- **on** (boolean, optional, default: false): Whether.",
        "- **bare** (integer, required)",
        "- **anything** (any, required): Whatever.",
    ]


@pytest.mark.requirement("ARG-2")
def test_a_tool_without_arguments_says_so():
    assert ToolArguments.to_schema_markdown() == "## Arguments\n\nNone."


KINDS: list[Any] = [int, str | None, list[int], Literal["a"], Point, list[Point] | None, Colour, dict[str, Point]]
WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1)
FIELDS = st.dictionaries(
    st.from_regex(r"f_[a-z0-9_]{0,10}", fullmatch=True), st.tuples(st.sampled_from(KINDS), WORDS, st.booleans())
)


@pytest.mark.requirement("ARG-2")
@given(FIELDS)
def test_the_markdown_lists_every_field_with_its_need_and_description(fields: dict[str, tuple[Any, str, bool]]):
    wanted: dict[str, Any] = {
        name: (Annotated[kind, Field(description=words)], ... if required else None)
        for name, (kind, words, required) in fields.items()
    }
    lines = schema_markdown(create_model("Wanted", **wanted)).splitlines()
    rows = [line for line in lines if line.startswith("- ")]
    assert len(rows) == len(fields)
    for row, (name, (_, words, required)) in zip(rows, fields.items(), strict=True):
        assert row.startswith(f"- **{name}** (")
        assert f", {'required' if required else 'optional'}" in row
        assert row.endswith(f"): {words}")
