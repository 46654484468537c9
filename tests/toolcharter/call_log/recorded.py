"""An app whose calls are kept, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp_core import App, Caller, Settings, ToolError
from mcp_core.mcp_log import get_logger
from tests.mcp_core.declared import Number, Text, mutation, query
from toolcharter.call_log import CallLog
from toolcharter.call_log.opening import keep_calls

ANN = Caller("user:ann", "ann", frozenset({"*"}))
BOB = Caller("user:bob", "bob", frozenset({"*"}))
logger = get_logger(__name__)


@query({"number": 2}, cache_ttl=60)
async def double(number: Number) -> int:
    return number * 2


@mutation({"password": "p", "note": "n"})
async def save(password: Text, note: Text) -> str:
    if note == "lost":
        raise ToolError("The note was lost.")
    if note == "broken":
        logger.warning("about to break with %s", password)
        raise ValueError(f"broken: {password}")
    return "saved"


def build(db: str, name: str = "notes", **settings: Any) -> App:
    return App(name, version="1.2.3", format="result", tools=[double, save], settings=Settings(db=db, **settings))


@asynccontextmanager
async def recorded(*apps: App) -> AsyncIterator[CallLog]:
    async with keep_calls(apps, apps[0].settings, 3600) as log:
        assert log is not None
        yield log
