"""The databases of installed servers, and of the framework beside them."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from sqlalchemy.engine import URL

from mcp_core.audit.sql import MIGRATIONS as AUDIT
from mcp_core.db import Migrations, address
from mcp_core.db.migrations import FRAMEWORK
from mcp_core.process.extras import package_of
from mcp_core.settings.model import Settings
from mcp_core.tasks.database_store import beside

FOLDER = "migrations"
"""The folder with a server's migrations, in its package."""


class DatabaseStore(NamedTuple):
    """The tables of a server, or of the framework, in a database."""

    name: str
    url: URL
    migrations: Migrations

    def exists(self) -> bool:
        """Whether there can be anything in it: SQLite would create the file."""
        return self.url.get_backend_name() != "sqlite" or Path(self.url.database or "").exists()


def migrations_of(entry: EntryPoint) -> Migrations | None:
    """The migrations of an installed server. None if it has no folder of them."""
    spec = find_spec(package_of(entry))
    for parent in (spec and spec.submodule_search_locations) or ():
        if (folder := Path(parent) / FOLDER).is_dir():
            return Migrations(entry.name, folder)
    return None


def stores(entry: EntryPoint, settings: Settings) -> Iterator[DatabaseStore]:
    """The tables that a server uses: its own, the framework's beside them, and the audit trail."""
    if (own := migrations_of(entry)) is not None:
        url = address(settings.db, entry.name)
        yield DatabaseStore(entry.name, url, own)
        yield DatabaseStore(f"{entry.name}: idempotency keys", url, FRAMEWORK)
        if (tasks := beside(url)) != url:
            yield DatabaseStore(f"{entry.name}: tasks", tasks, FRAMEWORK)
    if settings.audit and "://" in settings.audit:
        yield DatabaseStore(f"{entry.name}: audit trail", address(settings.audit, "audit"), AUDIT)
