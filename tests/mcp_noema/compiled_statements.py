"""Lets all databases of a kind share the SQL that SQLAlchemy has compiled.

Each engine compiles its statements for itself, and each test opens engines: a third of the time of the tests.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlalchemy.ext.asyncio import AsyncEngine

from mcp_core.db import postgres, sqlite


@contextmanager
def shared_between_engines() -> Iterator[None]:
    engines: dict[tuple[Any, ...], Engine] = {}

    def sharing(create: Callable[..., Engine | AsyncEngine]) -> Callable[..., Engine | AsyncEngine]:
        def create_and_share(*args: Any, **options: Any) -> Engine | AsyncEngine:
            created = create(*args, **options)
            engine = created.sync_engine if isinstance(created, AsyncEngine) else created
            first = engines.setdefault((engine.dialect.name, options.get("isolation_level")), engine)
            # Compiled statements are kept by dialect.
            engine.dialect = engine.pool._dialect = first.dialect
            engine._compiled_cache = first._compiled_cache
            return created

        return create_and_share

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "create_engine", sharing(sqlite.create_engine))
        patch.setattr(postgres, "create_async_engine", sharing(postgres.create_async_engine))
        yield
