"""Text that is shown to a person: nothing in it can control the terminal, or deceive the reader."""

import re
import sys
from typing import TextIO

_LETTERS, _PICTURES = "\u0600-\u109f\u1780-\u18af", "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINERS = re.compile(
    f"(?<=[{_LETTERS}])[\u200c\u200d](?=[{_LETTERS}])|(?<=[{_PICTURES}\ufe0f])\u200d(?=[{_PICTURES}])"
)
"""Between letters of Persian, Hindi and other scripts that need them, and in an emoji of several."""


def print_text(text: str = "", *, end: str = "\n", file: TextIO | None = None, flush: bool = False) -> None:
    """Print text with its control and invisible characters escaped; JSON stays JSON. Every command prints with this."""
    stream = file or sys.stdout
    stream.write(escape_lines(text) + end)
    if flush:
        stream.flush()


def print_data(text: str) -> None:
    """Print the result of a command: escaped in a terminal, and unchanged in a pipe, where a program reads it."""
    if sys.stdout.isatty():
        print_text(text, end="")
    else:
        sys.stdout.write(text)


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
    """The escape of JSON, so that JSON that is escaped as a whole has the same value."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
