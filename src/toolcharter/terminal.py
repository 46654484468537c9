"""Text of servers that is shown to a person: nothing in it can control the terminal, or deceive the reader."""


def escape_invisible(text: str, keep: str = "") -> str:
    """Text with all control and invisible characters escaped, except those to keep."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in keep else _escaped(one) for one in text)


def escape_lines(text: str) -> str:
    """The same for text of several lines."""
    return escape_invisible(text, "\n\t")


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - four digits are enough
