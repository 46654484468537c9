"""Text of servers that is shown to a person: nothing in it can control the terminal, or deceive the reader."""

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 2000
"""Columns of a report in a pipe, where a line is not wrapped: `grep` finds it whole."""

_LETTERS, _PICTURES = "\u0600-\u109f\u1780-\u18af", "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINERS = re.compile(
    f"(?<=[{_LETTERS}])[\u200c\u200d](?=[{_LETTERS}])|(?<=[{_PICTURES}\ufe0f])\u200d(?=[{_PICTURES}])"
)
"""Between letters of Persian, Hindi and other scripts that need them, and in an emoji of several."""


def report_console() -> "Console":
    """A console for reports: as wide as the terminal, and without wrapped lines in a pipe."""
    from rich.console import Console  # noqa: PLC0415 - 60 ms that other users of this module do not need

    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def escape_invisible(text: str, keep: str = "") -> str:
    """Text with all control and invisible characters escaped, except those to keep, and joiners in their place."""
    if text.isprintable():
        return text
    joiners = {found.start() for found in _JOINERS.finditer(text)}
    return "".join(
        one if one.isprintable() or one in keep or at in joiners else _escaped(one) for at, one in enumerate(text)
    )


def escape_lines(text: str) -> str:
    """The same for text of several lines."""
    return escape_invisible(text, "\n\t")


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - four digits are enough
