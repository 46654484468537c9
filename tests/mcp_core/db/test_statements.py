"""`change` does what SQLAlchemy does, on SQLite without most of it."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from mcp_core.db import UtcTime, change
from mcp_core.db.statements import _prepare

metadata = sa.MetaData()
things = sa.Table(
    "things",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("name", sa.String(20), nullable=False),
    sa.Column("done", sa.Boolean),
    sa.Column("at", UtcTime),
    sa.Column("data", sa.JSON),
)
counted = sa.Table("counted", metadata, sa.Column("n", sa.Integer), sa.Column("by", sa.String, default=lambda: "me"))
ID, OTHER = UUID(int=1), UUID(int=2)
ROW: dict[str, Any] = {
    "id": ID,
    "name": "first",
    "done": False,
    "at": datetime(2026, 11, 19, 12, tzinfo=UTC),
    "data": {"a": [1, None]},
}
INSERT = sa.insert(things)
RENAME = sa.update(things).where(things.c.id == sa.bindparam("which"))
DELETE = sa.delete(things).where(things.c.name == sa.bindparam("called"))


@pytest.fixture
def connection():
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        metadata.create_all(connection)
        yield connection


def test_rows_are_as_sqlalchemy_stores_them(connection: sa.Connection):
    assert change(connection, INSERT, ROW) == 1
    connection.execute(INSERT, ROW | {"id": OTHER})
    rows = connection.exec_driver_sql("SELECT name, done, at, data FROM things").all()
    assert rows[0] == rows[1]
    assert connection.execute(sa.select(things).where(things.c.id == ID)).one()._asdict() == ROW
    assert _prepare(INSERT, tuple(ROW), connection.dialect) is not None


def test_it_returns_how_many_rows_changed(connection: sa.Connection):
    for each in (ID, OTHER):
        change(connection, INSERT, ROW | {"id": each})
    assert change(connection, RENAME, {"which": OTHER, "name": "second"}) == 1
    assert change(connection, RENAME, {"which": UUID(int=3), "name": "second"}) == 0
    assert change(connection, DELETE, {"called": "second"}) == 1
    assert connection.execute(sa.select(things.c.name)).scalars().all() == ["first"]


def test_an_error_is_that_of_sqlalchemy(connection: sa.Connection):
    change(connection, INSERT, ROW)
    with pytest.raises(sa.exc.IntegrityError, match="UNIQUE"):
        change(connection, INSERT, ROW)


def test_what_sqlalchemy_makes_for_each_execution_is_left_to_it(connection: sa.Connection):
    fixed = sa.update(things).values(name="fixed").where(things.c.id == sa.bindparam("which"))
    several = sa.delete(things).where(things.c.id.in_(sa.bindparam("ids", expanding=True)))
    change(connection, INSERT, ROW)
    assert change(connection, sa.insert(counted), {"n": 1}) == 1
    assert connection.execute(sa.select(counted)).all() == [(1, "me")]
    assert change(connection, fixed, {"which": ID}) == 1
    assert connection.execute(sa.select(things.c.name)).scalars().all() == ["fixed"]
    assert change(connection, several, {"ids": [ID, OTHER]}) == 1
