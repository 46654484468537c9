import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from mcp_core import App, Confirm, DeclarationError, NotFound, Result, ToolArguments, ToolContext
from tests.mcp_core.declared import Number, Text, mutation, query


class Table:
    """A store with transactions: what is written counts only once it is committed."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.opened, self.committed, self.rolled_back = 0, 0, 0
        self.contexts: list[ToolContext] = []

    @asynccontextmanager
    async def open(self, context: ToolContext) -> AsyncIterator["Session"]:
        session = Session()
        self.opened += 1
        self.contexts.append(context)
        try:
            yield session
        except BaseException:
            self.rolled_back += 1
            raise
        self.rows += session.rows
        self.committed += 1


class Session:
    def __init__(self) -> None:
        self.rows: list[str] = []


def app_with(table: Table, ending: Callable[[], Any], deadline: float = 60.0) -> App:
    @mutation({"row": "x"}, response_time=deadline)
    async def write(row: Text, session: Session, context: ToolContext) -> Any:
        session.rows.append(row)
        made = ending()
        return await made if asyncio.iscoroutine(made) else made

    app = App("test", version="1.0.0", format="result", tools=[write])
    app.provide(Session, table.open, scope="call")
    return app


async def test_a_success_commits():
    table = Table()
    async with app_with(table, lambda: Result.ok(1)) as app:
        assert json.loads((await app.call("write", {"row": "a"})).text) == {"success": True, "value": 1}
        assert json.loads((await app.call("write", {"row": "b"})).text) == {"success": True, "value": 1}
    assert (table.rows, table.opened, table.committed, table.rolled_back) == (["a", "b"], 2, 2, 0)
    assert table.contexts[0].trace_id != table.contexts[1].trace_id


def refuse() -> None:
    raise NotFound("There is no x.")


def crash() -> None:
    raise ZeroDivisionError


def leave() -> None:
    raise SystemExit(1)


@pytest.mark.parametrize(
    ("ending", "error_type", "deadline"),
    [
        (lambda: Result.failure("The table is full.", "ConflictError"), "ConflictError", 60.0),
        (refuse, "NotFoundError", 60.0),
        (crash, "SystemError", 60.0),
        (leave, "SystemError", 60.0),
        (lambda: asyncio.sleep(600), "DeadlineError", 0.1),
    ],
    ids=["a failed result", "an error", "a crash", "an exit", "a deadline"],
)
async def test_a_failure_rolls_back_and_keeps_its_error(ending: Callable[[], Any], error_type: str, deadline: float):
    table = Table()
    async with app_with(table, ending, deadline) as app:
        answer = json.loads((await app.call("write", {"row": "a"})).text)
    assert answer["error_type"] == error_type
    assert (table.rows, table.opened, table.committed, table.rolled_back) == ([], 1, 0, 1)


async def test_a_cancelled_call_rolls_back():
    table, begun = Table(), asyncio.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.sleep(600)

    async with app_with(table, hang) as app:
        call = asyncio.create_task(app.call("write", {"row": "a"}))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert (table.rows, table.opened, table.committed, table.rolled_back) == ([], 1, 0, 1)


async def test_a_call_that_is_refused_opens_nothing():
    table = Table()
    async with app_with(table, lambda: 1) as app:
        assert (await app.call("write", {})).is_error
    assert table.opened == 0


async def test_a_resource_that_cannot_be_opened_or_committed_is_a_system_error():
    @asynccontextmanager
    async def closed(context: ToolContext) -> AsyncIterator[Session]:
        raise ConnectionError("no database")
        yield Session()

    @asynccontextmanager
    async def full(context: ToolContext) -> AsyncIterator[Session]:
        yield Session()
        raise OSError("no space left on the disk")

    async def error_of(open_it: Callable[..., AbstractAsyncContextManager[Session]]) -> str:
        @mutation()
        async def write(session: Session) -> int:
            return 1

        app = App("test", version="1.0.0", format="result", tools=[write])
        app.provide(Session, open_it, scope="call")
        async with app:
            return json.loads((await app.call("write")).text)["error_type"]

    assert [await error_of(closed), await error_of(full)] == ["SystemError", "SystemError"]


async def test_several_resources_are_closed_in_reverse_order_and_all_roll_back():
    done: list[str] = []

    def named(name: str) -> Callable[[ToolContext], AbstractAsyncContextManager[str]]:
        @asynccontextmanager
        async def open_it(context: ToolContext) -> AsyncIterator[str]:
            try:
                done.append(f"open {name}")
                yield name
            except ZeroDivisionError:
                done.append(f"roll back {name}")
                raise

        return open_it

    class First: ...

    class Second: ...

    @mutation()
    async def write(first: First, second: Second) -> int:
        done.append(f"run with {first} and {second}")
        raise ZeroDivisionError

    app = App("test", version="1.0.0", format="result", tools=[write])
    app.provide(First, named("first"), scope="call")
    app.provide(Second, named("second"), scope="call")
    async with app:
        await app.call("write")
    assert done == ["open first", "open second", "run with first and second", "roll back second", "roll back first"]


async def test_one_object_is_shared_by_all_calls():
    @mutation({"row": "x"})
    async def write(row: Text, table: Table) -> int:
        table.rows.append(row)
        return len(table.rows)

    app = App("test", version="1.0.0", format="result", tools=[write])
    app.provide(Table, Table())
    async with app:
        assert [json.loads((await app.call("write", {"row": "a"})).text)["value"] for _ in range(3)] == [1, 2, 3]


async def test_a_need_that_nothing_provides_stops_the_server_at_its_start():
    @query()
    async def read(table: Table) -> int:
        return 1

    app = App("test", version="1.0.0", format="result", tools=[read])
    with pytest.raises(DeclarationError, match=r"read: table: nothing provides Table; call app.provide\(Table, ...\)"):
        await app.__aenter__()
    assert not app.is_open


class Rename(ToolArguments):
    old: str = Field(description="The old name.")
    new: str = Field(default="unnamed", description="The new name.")


async def test_a_handler_gets_its_arguments_as_it_declares_them():
    @query({"old": "a"})
    async def by_model(args: Rename) -> str:
        return f"{args.old} {args.new}"

    @query({"old": "a"})
    async def by_name(old: Text, new: Text = "unnamed", *, context: ToolContext) -> str:
        return f"{old} {new} {context.agent_id}"

    @mutation({"old": "a", "explicit_action": "RENAME"}, confirm=Confirm("RENAME"))
    async def consent_for_it(old: Text) -> str:
        return old

    @mutation({"old": "a", "explicit_action": "RENAME"}, confirm=Confirm("RENAME"))
    async def consent_by_it(
        old: Text, explicit_action: Annotated[Literal["RENAME"], Field(description="The literal.")]
    ) -> str:
        return f"{old} {explicit_action}"

    @mutation({"old": "a", "explicit_action": "RENAME"}, confirm=Confirm("RENAME"))
    async def consent_in_model(args: Rename) -> list[str]:
        return sorted(args.model_dump().values())

    tools = [by_model, by_name, consent_for_it, consent_by_it, consent_in_model]
    async with App("test", version="1.0.0", format="result", tools=tools) as app:
        consent = {"old": "a", "explicit_action": "RENAME"}
        given: dict[str, dict[str, str]] = {"by_model": {"old": "a"}, "by_name": {"old": "a"}}
        answers = [
            json.loads((await app.call(t.__name__, given.get(t.__name__, consent))).text)["value"] for t in tools
        ]
    assert answers == ["a unnamed", "a unnamed unknown", "a", "a RENAME", ["RENAME", "a", "unnamed"]]


async def test_a_handler_can_be_called_directly():
    @query({"n": 1}, permissions=["math:use"])
    async def double(n: Number) -> int:
        return 2 * n

    async with App("test", version="1.0.0", format="result", tools=[double]) as app:
        assert await double(4) == json.loads((await app.call("double", {"n": 4})).text)["value"] == 8
