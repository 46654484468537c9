"""An app in another app: one pipeline, its own objects, new names."""

import json
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pytest

from mcp_core import App, Argument, DeclarationError, NotFound, Request, Resource, ResourceSource, Settings
from mcp_core.auth import user
from mcp_core.calling.records import Answer
from tests.mcp_core import declared_tools


class Shelf:
    def __init__(self, books: list[str]) -> None:
        self.books, self.is_open = books, False


def library(name: str, *books: str) -> App:
    app, shelf = App(name), Shelf(list(books))

    @asynccontextmanager
    async def opened(app: App) -> Any:
        assert app.name == name
        shelf.is_open = True
        yield shelf
        shelf.is_open = False

    app.provide(Shelf, opened)

    @app.tool(permissions=["books:read"], category="query")
    async def list_books(shelf: Shelf) -> list[str]:
        """List the books."""
        assert shelf.is_open
        return shelf.books

    @app.tool(category="query")
    async def get_book(title: str, shelf: Shelf) -> str:
        """Get a book."""
        raise NotFound(f"No book {title!r} is here. Call list_books.")

    def titles(shelf: Shelf) -> list[str]:
        return shelf.books

    @app.prompt
    async def review(title: Annotated[str, Argument(complete=titles)]) -> str:
        """Review a book."""
        return f"Review {title}."

    return app


async def test_two_apps_are_served_as_one_with_what_each_provides():
    app = App("all", format="result")
    app.mount(library("north", "Emma"), prefix="north")
    app.mount(library("south", "Dune"), prefix="south")
    assert [tool.name for tool in app.list_tools()] == [
        "north_list_books",
        "north_get_book",
        "south_list_books",
        "south_get_book",
    ]
    records: list[str] = []
    async with app:
        app._pipeline.recorder.keep = lambda ended: records.append(ended[0].final_name)
        assert json.loads((await app.call("north_list_books")).text)["value"] == ["Emma"]
        assert json.loads((await app.call("south_list_books")).text)["value"] == ["Dune"]
        error = json.loads((await app.call("north_get_book", {"title": "x"})).text)["error"]
        assert error == "No book 'x' is here. Call north_list_books."
        denied = await app.answer(Request("south_list_books", {}, user("ana", [])))
        assert isinstance(denied, Answer)
        assert denied.is_error
        assert "books:read" in denied.text
        conversation = await app.library.prompt(Request("south_review", {"title": "Dune"}))
        assert conversation.messages[0].content == "Review Dune."
        assert await app.library.complete("title", "d", {}, Request("south_review", {})) == ["Dune"]
    # One record for each call.
    assert records == ["north_list_books", "south_list_books", "north_get_book", "south_list_books"]


async def test_the_settings_of_the_outer_app_hold():
    app = App("all", settings=Settings(tool_prefix="acme"))
    app.mount(library("north", "Emma"))
    assert [tool.name for tool in app.list_tools()] == ["acme_list_books", "acme_get_book"]
    async with app:
        with pytest.raises(RuntimeError, match="mount south before all is opened"):
            app.mount(library("south"))


def test_names_and_addresses_that_are_taken_are_refused():
    app = App("all")
    app.mount(library("north", "Emma"))
    with pytest.raises(DeclarationError, match="list_books: two tools have this name"):
        app.mount(library("south", "Dune"))
    notes, others = App("notes", resources=[_source()]), App("others", resources=[_source()])
    app.mount(notes, prefix="notes")
    with pytest.raises(DeclarationError, match="note://: prefix: overlaps with note://"):
        app.mount(others, prefix="others")


def _source() -> ResourceSource:
    return ResourceSource("note://", read=lambda uri: "text", fixed=[Resource("note://1", "One")])


async def test_tools_that_are_declared_elsewhere_are_included():
    app = App("more")
    app.include([declared_tools])
    async with app:
        assert (await app.call("double", {"n": 2})).text == "4"
