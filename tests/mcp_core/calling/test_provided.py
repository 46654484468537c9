import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest

from mcp_core import App, BrandedId, DeclarationError, Settings, ToolArguments, ToolContext
from mcp_core.declare.data_types import is_provided
from tests.mcp_core.declared import Text, mutation, query

pytestmark = pytest.mark.requirement("AUT-2")


class Shelf:
    def __init__(self, name: str = "oak") -> None:
        self.name = name
        self.is_open = True


class Books:
    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf


class Loan:
    def __init__(self, books: Books, by: str) -> None:
        self.books, self.by = books, by


@query()
async def where(books: Books) -> str:
    return books.shelf.name


async def value(app: App, tool: str, arguments: dict[str, Any] | None = None) -> Any:
    return json.loads((await app.call(tool, arguments)).text)["value"]


def app_with(*tools: Any, **options: Any) -> App:
    return App("test", version="1.0.0", tools=tools, format="result", **options)


# --- what is an argument, and what is provided -----------------------------------------------------


class Plain(Protocol):
    def read(self) -> str: ...


@dataclass
class Size:
    width: int


@dataclass
class Clock:
    now: Callable[[], datetime]


class BookId(BrandedId, prefix="book"): ...


class Colour(Enum):
    RED = "red"


class Wanted(ToolArguments):
    a: int


@pytest.mark.parametrize(
    ("kind", "provided"),
    [
        *((kind, False) for kind in (int, str | None, list[str], dict[str, Size], Any, datetime, Path, Colour)),
        *((kind, False) for kind in (Size, BookId, Wanted, Size | None)),
        *((kind, True) for kind in (Shelf, Plain, Clock, App, Callable[[], int])),
    ],
    ids=str,
)
def test_agents_send_what_json_can_hold_and_the_app_provides_all_other_classes(kind: Any, provided: bool):
    assert is_provided(kind) == provided


def test_data_cannot_be_provided_because_it_would_be_an_argument():
    for kind, made in ((Size, Size(1)), (list, []), (str, "a")):
        with pytest.raises(DeclarationError) as refused:
            app_with().provide(kind, made)
        name = kind.__name__
        fix = "provide an ordinary class that has it, because agents send data as arguments"
        assert str(refused.value) == f"app.provide({name}, ...): {name} is data; {fix}"


# --- for the server --------------------------------------------------------------------------------


def make() -> Shelf:
    return Shelf("made")


async def make_async() -> Shelf:
    return Shelf("awaited")


async def yield_async() -> AsyncIterator[Shelf]:
    shelf = Shelf("yielded")
    yield shelf
    shelf.is_open = False


def yield_sync() -> Iterator[Shelf]:
    shelf = Shelf("yielded by a plain function")
    yield shelf
    shelf.is_open = False


@pytest.mark.parametrize(
    ("factory", "name", "is_closed"),
    [
        (Shelf(), "oak", False),
        (Shelf, "oak", False),
        (partial(Shelf, "ash"), "ash", False),
        (lambda: Shelf("beech"), "beech", False),
        (make, "made", False),
        (make_async, "awaited", False),
        (yield_async, "yielded", True),
        (yield_sync, "yielded by a plain function", True),
        (asynccontextmanager(yield_async), "yielded", True),
        (contextmanager(yield_sync), "yielded by a plain function", True),
        (partial(yield_async), "yielded", True),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
async def test_a_value_or_whatever_makes_one_is_provided_and_closed_with_the_app(
    factory: Any, name: str, is_closed: bool
):
    @query()
    async def look(shelf: Shelf) -> str:
        seen.append(shelf)
        return shelf.name

    seen: list[Shelf] = []
    app = app_with(look)
    app.provide(Shelf, factory)
    async with app:
        assert [await value(app, "look") for _ in range(2)] == [name, name]
        assert seen[0] is seen[1] is app.provided(Shelf)
        assert seen[0].is_open
    assert seen[0].is_open is not is_closed


async def test_a_factory_takes_what_it_needs_by_type_and_the_order_does_not_matter():
    done: list[str] = []

    async def open_shelf(app: App, wood: str = "ash") -> AsyncIterator[Shelf]:
        done.append("open the shelf")
        yield Shelf(f"{wood} in {app.name}")
        done.append("close the shelf")

    async def open_books(shelf: Shelf) -> AsyncIterator[Books]:
        done.append("open the books")
        yield Books(shelf)
        done.append("close the books")

    app = app_with(where)
    app.provide(Books, open_books)
    app.provide(Shelf, open_shelf)
    for _ in range(2):
        async with app:
            assert await value(app, "where") == "ash in test"
        assert done == ["open the shelf", "open the books", "close the books", "close the shelf"]
        done.clear()
    with pytest.raises(LookupError, match="Books is made when the app opens; it does not exist yet"):
        app.provided(Books)


async def test_a_class_that_takes_what_is_provided_needs_no_function():
    app = app_with(where)
    app.provide(Books, Books)
    app.provide(Shelf, Shelf("elm"))
    async with app:
        assert await value(app, "where") == "elm"


# --- for each call ---------------------------------------------------------------------------------


async def test_what_is_made_for_a_call_takes_the_context_and_what_is_shared_and_exists_once_in_it():
    made: list[Any] = []

    @mutation({"title": "Emma"})
    async def lend(title: Text, loan: Loan, books: Books) -> str:
        assert loan.books is books
        return f"{title} from {books.shelf.name} to {loan.by}"

    def open_books(shelf: Shelf) -> Books:
        made.append(Books(shelf))
        return made[-1]

    async def open_loan(context: ToolContext, books: Books) -> AsyncIterator[Loan]:
        yield Loan(books, context.user_id or "nobody")

    app = app_with(lend, settings=Settings(user="ana"))
    app.provide(Loan, open_loan, scope="call")
    app.provide(Books, open_books, scope="call")
    app.provide(Shelf, Shelf())
    async with app:
        said = await asyncio.gather(*(value(app, "lend", {"title": title}) for title in ("Emma", "Dune")))
    assert said == ["Emma from oak to ana", "Dune from oak to ana"]
    assert len(made) == 2


# --- what is refused at the start ------------------------------------------------------------------


async def refusal(app: App) -> str:
    with pytest.raises(DeclarationError) as refused:
        await app.__aenter__()
    assert not app.is_open
    return str(refused.value)


async def test_a_parameter_that_nothing_provides_is_named_with_the_call_to_write():
    assert await refusal(app_with(where)) == (
        "where: books: nothing provides Books; call app.provide(Books, ...), or use a type that JSON can hold"
    )


async def test_a_cycle_is_refused():
    def to_shelf(books: Books) -> Shelf:
        return books.shelf

    app = app_with(where)
    app.provide(Books, Books)
    app.provide(Shelf, to_shelf)
    assert await refusal(app) == "app.provide: Books needs Shelf needs Books; remove one of these parameters"


async def lend_to(context: ToolContext) -> Loan: ...


async def lend_books(books: Books) -> Loan: ...


async def lend_any(books) -> Loan: ...


@pytest.mark.parametrize(
    ("factory", "options", "problem"),
    [
        (lend_books, {}, "app.provide(Loan, ...): books: nothing provides Books; call app.provide(Books, ...)"),
        (lend_to, {}, 'app.provide(Loan, ...): context: a ToolContext belongs to a call; write scope="call"'),
        (
            lend_any,
            {},
            (
                "app.provide(Loan, ...): books has no type, or no name to pass it by; annotate it with the type to "
                "pass, or give it a default"
            ),
        ),
        (lend_to, {"scope": "always"}, "app.provide(Loan, ...): scope 'always' is not known; use server or call"),
    ],
)
async def test_a_factory_that_cannot_be_called_is_refused(
    factory: Callable[..., Awaitable[Any]], options: Any, problem: str
):
    app = app_with()

    async def start() -> None:
        app.provide(Loan, factory, **options)
        await app.__aenter__()

    with pytest.raises(DeclarationError) as refused:
        await start()
    assert str(refused.value) == problem


async def test_what_all_calls_share_cannot_take_what_is_made_for_each():
    app = app_with(where)
    app.provide(Books, Books)
    app.provide(Shelf, Shelf, scope="call")
    assert await refusal(app) == (
        'app.provide(Books, ...): shelf: Shelf is made for each call; write scope="call" here as well'
    )


def test_a_value_cannot_be_made_for_each_call():
    with pytest.raises(DeclarationError, match="is not a function; give one for each call"):
        app_with().provide(Shelf, Shelf(), scope="call")


async def test_a_factory_that_makes_none_is_named():
    async def forget() -> None:
        Shelf()

    app = app_with()
    app.provide(Shelf, forget)
    with pytest.raises(RuntimeError, match=r"the factory at .*test_provided.py:\d+ made None; return or yield"):
        await app.__aenter__()


async def test_an_open_app_takes_a_new_value_but_no_factory():
    app = app_with(where)
    app.provide(Books, Books(Shelf("old")))
    async with app:
        app.provide(Books, Books(Shelf("new")))
        assert await value(app, "where") == "new"
        with pytest.raises(DeclarationError, match="the app is open; provide the object itself"):
            app.provide(Books, Books)
        assert await value(app, "where") == "new"
