"""Numbers with their nouns."""


def count(number: int, noun: str) -> str:
    """`1 tool`, `2,000 tools`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
