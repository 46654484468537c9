"""A server whose tools declare what they return, with no word about formats."""

from dataclasses import dataclass
from datetime import date

from toolcharter import App, NotFound, Settings, run, tool


@dataclass
class Loan:
    """A book that was lent."""

    book: str
    due: date


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def greet(name: str) -> str:
    """Greet somebody."""
    return f'Hello "{name}"'


def list_loans() -> list[Loan]:
    """List the books that were lent."""
    return [Loan("Dune", date(2026, 12, 1))]


def find_loan(book: str) -> Loan:
    """Find a book that was lent."""
    if book != "Dune":
        raise NotFound(f"No book {book!r} was lent. Call list_loans.")
    return Loan(book, date(2026, 12, 1))


def count_words(text: str) -> dict[str, int]:
    """Count the words of a text."""
    return {word: text.split().count(word) for word in text.split()}


def untyped():
    """Answer without a declared type."""
    return {"answer": 42}


TOOLS = [tool(function) for function in (add, greet, list_loans, find_loan, count_words, untyped)]


def build(settings: Settings) -> App:
    """The server."""
    return App("typed", version="1.0.0", tools=TOOLS, settings=settings)


if __name__ == "__main__":
    run(build)
