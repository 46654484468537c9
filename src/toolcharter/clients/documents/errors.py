"""Why a file of settings cannot be read or changed."""

from mcp_core.process.start_errors import CannotStart


class BrokenDocument(CannotStart):
    """A text is not of its format. The message says where."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {problem}")


class CannotEdit(CannotStart):
    """A text is correct, but written in a way that cannot be changed here without changing more."""


def position(text: str, index: int) -> tuple[int, int]:
    """The line and column of a character, both counted from 1."""
    before = text[:index]
    return before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1
