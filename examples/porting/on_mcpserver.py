"""A reading list on the SDK's MCPServer, before it is ported."""

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

mcp = MCPServer("books")

TITLES = {"book_1": "Dune", "book_2": "Emma"}


@mcp.tool()
def list_books(contains: str = "", limit: int = 10) -> list[dict[str, str]]:
    """List the books on the reading list."""
    found = [{"id": book_id, "title": title} for book_id, title in TITLES.items() if contains in title]
    return found[:limit]


@mcp.tool()
def remove_book(book_id: str) -> str:
    """Remove a book from the reading list."""
    if book_id not in TITLES:
        raise ToolError(f"No book {book_id!r} is on the list.")
    return TITLES.pop(book_id)


if __name__ == "__main__":
    mcp.run()
