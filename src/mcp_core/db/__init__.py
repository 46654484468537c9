"""A server's database, in SQLite or PostgreSQL, and its migrations.

Loading SQLAlchemy takes 0.15 s, so servers import this package only when they open their store.
"""

from mcp_core.db.database import Database, UtcTime, address, short_unit
from mcp_core.db.migrations import Migrations
from mcp_core.db.opening import open_database
from mcp_core.db.statements import change

__all__ = ["Database", "Migrations", "UtcTime", "address", "change", "open_database", "short_unit"]
