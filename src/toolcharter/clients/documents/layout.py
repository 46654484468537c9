"""How a text is laid out, so that what is added looks like the rest."""

import re

_INDENT = re.compile(r"\n([ \t]+)\S")


def newline(text: str) -> str:
    """The line ending of a text."""
    return "\r\n" if "\r\n" in text else "\n"


def unit(text: str) -> str:
    """One step of indentation: that of the first indented line."""
    found = _INDENT.search(text)
    return found[1] if found else "  "


def line_start(text: str, index: int) -> int:
    """The beginning of the line of a character."""
    return text.rfind("\n", 0, index) + 1


def next_line(text: str, index: int) -> int:
    """The beginning of the line after that of a character; the end of the text after the last line."""
    end = text.find("\n", index)
    return len(text) if end == -1 else end + 1


def indentation(text: str, index: int) -> str:
    """The white space at the beginning of a character's line."""
    start = line_start(text, index)
    line = text[start:index]
    return line[: len(line) - len(line.lstrip())]


def end_before(text: str, index: int) -> int:
    """The end of the last character before a place that is not white space."""
    return len(text[:index].rstrip())


def insert_lines(text: str, index: int, lines: str) -> str:
    """Insert whole lines. A text without a newline at its end stays without one."""
    if index == len(text) and text and not text.endswith("\n"):
        return f"{text}{newline(text)}{lines.rstrip()}"
    return text[:index] + lines + text[index:]


def delete_lines(text: str, start: int, end: int) -> str:
    """Delete whole lines; the reverse of `insert_lines`."""
    if end == len(text) and not text.endswith("\n"):
        return text[:start].removesuffix("\n").removesuffix("\r")
    return text[:start] + text[end:]
