import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core.declare import docstring
from mcp_core.declare.docstring import Docstring


def parsed(text: str | None) -> Docstring:
    def documented():
        pass

    documented.__doc__ = text
    return docstring.parse(documented)


def test_a_docstring_is_taken_apart():
    assert parsed("""Find notes
        by a word.

        Use this when the user looks for
        something.

        It is quick.

        Args:
            words: Text to look for,
                any case.
            limit (int, optional): How many: 1 to 10.

        Returns:
            The ids of the notes,
            oldest first.

        Raises:
            NotFound: never.

        Usage:
            find_notes(words="x")

              indented
        """) == Docstring(
        summary="Find notes by a word.",
        body="Use this when the user looks for\nsomething.\n\nIt is quick.",
        arguments={"words": "Text to look for, any case.", "limit": "How many: 1 to 10."},
        returns="The ids of the notes, oldest first.",
        usage='find_notes(words="x")\n\n  indented',
    )


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_no_docstring_is_an_empty_one(text: str | None):
    assert parsed(text) == Docstring()
    assert (Docstring().text, Docstring().when) == ("", "")


@pytest.mark.parametrize("heading", ["Args", "Arguments", "Parameters"])
def test_arguments_go_by_three_names(heading: str):
    assert parsed(f"Do.\n\n{heading}:\n    a: The a.\n").arguments == {"a": "The a."}


def test_text_after_a_section_belongs_to_the_body_again():
    assert parsed("Do.\n\nArgs:\n    a: The a.\n\nMore about it.\n") == Docstring(
        summary="Do.", body="More about it.", arguments={"a": "The a."}
    )


def test_a_line_of_prose_with_a_colon_is_no_argument():
    assert parsed("Do.\n\nArgs:\n    a: One of\n        b: or c.\n").arguments == {"a": "One of b: or c."}


def test_text_is_summary_and_body():
    assert parsed("Do.\n\nBody.\n\nReturns:\n    X.\n").text == "Do.\n\nBody."
    assert parsed("Do.").text == "Do."


def test_when_is_every_paragraph_that_says_use():
    read = parsed("Do.\n\nUse this when\nneeded.\n\nUseful it is.\n\nUse list_notes otherwise.")
    assert read.when == "Use this when needed. Use list_notes otherwise."


@given(st.text(st.characters()))
def test_no_docstring_is_too_odd_to_read(text: str):
    read = parsed(text)
    assert "\n" not in read.summary
    assert "\n" not in read.returns
    assert all("\n" not in words for words in read.arguments.values())


LINES = st.sampled_from(
    ["Args:", "Returns:", "Usage:", "Note:", "a: b", "    a: b", "    a (int): b", "        more", "", "Use it.", "\tx"]
)


@given(st.lists(LINES))
def test_lines_in_any_order_give_no_argument_that_was_not_written(lines: list[str]):
    read = parsed("\n".join(lines))
    assert set(read.arguments) <= {"a"}
    assert all(words.startswith("b") for words in read.arguments.values())


def test_an_object_that_can_be_called_is_read_by_its_class():
    class Adder:
        """Add up."""

        def __call__(self):
            pass

    assert docstring.parse(Adder()) == Docstring(summary="Add up.")
