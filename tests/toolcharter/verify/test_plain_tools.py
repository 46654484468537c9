"""The tools of one file, plain on FastMCP and plain on toolcharter."""

import fastmcp
import pytest

from mcp_core.declare.listed import ListedTool
from toolcharter import App
from toolcharter.local.app_verification import server_from_app
from toolcharter.verify.engine import server_from_tools
from toolcharter.verify.model import Server
from toolcharter.verify.result import verify_server
from toolcharter.verify.rules import static_rules


def list_books(contains: str = "", limit: int = 10) -> list[dict[str, str]]:
    """List the books on the reading list."""
    return []


def remove_book(book_id: str) -> str:
    """Remove a book from the reading list."""
    return book_id


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def search_notes(words: str) -> list[str]:
    """Search the notes for words. Use this when the user looks for a note. Returns the ids of the notes.

    Args:
        words: The words to look for, such as shopping list.
    """
    return []


FUNCTIONS = (list_books, remove_book, add, search_notes)


async def on_fastmcp() -> Server:
    server = fastmcp.FastMCP("books")
    for function in FUNCTIONS:
        server.tool(function)
    async with fastmcp.Client(server) as client:
        return server_from_tools(
            [ListedTool.from_wire(tool.model_dump(by_alias=True, mode="json")) for tool in await client.list_tools()]
        )


def on_toolcharter() -> App:
    app = App("books")
    for function in FUNCTIONS:
        app.tool(function)
    return app


@pytest.mark.requirement("AUT-2")
async def test_a_plain_tool_scores_at_least_what_it_scores_on_fastmcp():
    def scores(server: Server) -> dict[str, int]:
        found = verify_server(server, static_rules())
        return {one.tool.name: one.score for one in found.scores.tools}

    app = on_toolcharter()
    theirs = scores(await on_fastmcp())
    # In the process, where verify knows the declarations, and as another program lists them.
    for ours in (scores(server_from_app(app)), scores(server_from_tools(app.list_tools()))):
        assert [name for name, score in theirs.items() if ours[name] < score] == [], (ours, theirs)


@pytest.mark.requirement("AUT-2")
def test_verify_names_the_step_of_each_tool_and_what_is_missing():
    app = on_toolcharter()
    found = verify_server(server_from_app(app), static_rules())
    plain = "is plain; to be described it lacks a description of"
    (line,) = found.notes
    assert line == (
        f"4 of 4 tools are not governed: list_books {plain} 50 characters, a description of contains, limit. "
        f"remove_book {plain} 50 characters, a description of book_id. "
        f"add {plain} 50 characters, a description of a, b. And 1 more."
    )
