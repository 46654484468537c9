"""Numbers with their nouns."""


def count(number: float, noun: str) -> str:
    """`1 tool`, `2,000 tools`, `0.5 seconds`."""
    text = f"{number:,}" if isinstance(number, int) else f"{number:g}"
    return f"{text} {noun}" if number == 1 else f"{text} {noun}s"


def verb(number: float, singular: str, plural: str) -> str:
    """The form that agrees with a number: `verb(cards, "is", "are")`."""
    return singular if number == 1 else plural


_UNITS = ((86_400.0, "day"), (3600.0, "hour"), (60.0, "minute"))


def duration(seconds: float) -> str:
    """`3 days`, `1 hour`, `45 seconds`: in the largest unit that fits, without fractions."""
    for size, unit in _UNITS:
        if seconds >= size:
            return count(round(seconds / size), unit)
    return count(round(seconds), "second")
