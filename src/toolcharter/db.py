"""A database in SQLite or PostgreSQL, and its migrations. It loads SQLAlchemy, 180 ms: import it in the lifespan."""

from mcp_core.db import Database, Migrations, UtcTime, address, change, open_database, short_unit
from mcp_core.db.migrations import EarlierSchema

__all__ = ["Database", "EarlierSchema", "Migrations", "UtcTime", "address", "change", "open_database", "short_unit"]
