"""The same reading list on toolcharter."""

from typing import Annotated

from pydantic import Field

from toolcharter import App, Confirm, Example, NotFound, Settings, run, tool


class Library:
    """What the tools share; `build` makes one for each server, so that a test has its own."""

    def __init__(self) -> None:
        self.titles = {"book_1": "Dune", "book_2": "Emma"}


books = tool.preset(tags=["books"], open_world=False)


@books.query(
    permissions=["books:read"],
    examples=[Example("Books with mm", {"contains": "mm"}, [{"id": "book_2", "title": "Emma"}])],
)
async def list_books(
    library: Library,
    contains: Annotated[str, Field(max_length=100, description="Only titles that contain this text.")] = "",
    limit: Annotated[int, Field(ge=1, le=100, description="The largest number of books to return.")] = 10,
) -> list[dict[str, str]]:
    """List the books on the reading list.

    Use this when the user wants to see their books, or needs the id of one.

    Returns:
        The id and title of each book, in the order in which they were added.
    """
    found = [{"id": book_id, "title": title} for book_id, title in library.titles.items() if contains in title]
    return found[:limit]


@books.mutation(
    permissions=["books:write"],
    confirm=Confirm("REMOVE_BOOK", ask="Remove {book_id} from the reading list?"),
    examples=[Example("Remove a book", {"book_id": "book_1", "explicit_action": "REMOVE_BOOK"}, "Dune")],
)
async def remove_book(
    library: Library, book_id: Annotated[str, Field(description="The id of the book, such as book_1.")]
) -> str:
    """Remove a book from the reading list.

    Use this when the user asks to remove a certain book. It cannot be undone.

    Returns:
        The title of the removed book.
    """
    if book_id not in library.titles:
        raise NotFound(f"No book {book_id!r} is on the list. Call list_books to see the ids.")
    return library.titles.pop(book_id)


def build(settings: Settings) -> App:
    """The server."""
    app = App("books", version="1.0.0", tools=[list_books, remove_book], format="bare", settings=settings)
    app.provide(Library, Library())
    return app


if __name__ == "__main__":
    run(build)
