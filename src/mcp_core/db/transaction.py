"""One transaction around all units of work of a call.

    async with database.transaction(claim) as transaction:
        await database.write(insert_task, ...)    # the first write begins the transaction, with `claim`
        await database.read(select_tasks, ...)    # sees what was written
        await transaction.commit(store_answer)

Without `commit`, everything is rolled back. It lasts from the first write to the end, so that a call which computes
for a while before it writes does not lock others out.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")
Unit = Callable[[Connection], T]


class OpenTransaction(Protocol):
    """An open transaction in one kind of database."""

    async def run(self, unit: Unit[T], *, short: bool) -> T:
        """Run a unit of work in the transaction. `short` is that of `@short_unit`."""
        ...

    def close(self) -> Awaitable[None] | None:
        """Roll back what was not committed, and give the connection back. Returns what to wait for, if anything."""
        ...


class Transaction:
    """The transaction of one call, which its first write begins."""

    def __init__(
        self, database: object, open_session: Callable[[], Awaitable[OpenTransaction]], first: Unit[None]
    ) -> None:
        """`first` is short, as is what `commit` gets."""
        self._database, self._open_session, self._first = database, open_session, first
        self._session: OpenTransaction | None = None
        self._lock = asyncio.Lock()
        self.failure: Exception | None = None
        """The error that `first` raised. No unit of work runs without it."""
        self.is_begun = False
        self.is_waiting = False
        """Whether `first` has not ended; still so after a call that was cancelled while it waited."""
        self._is_over = False

    def is_in(self, database: object) -> bool:
        """Whether work in this database belongs to the transaction."""
        return self._database is database and not self._is_over

    async def run(self, unit: Unit[T], *, short: bool = False) -> T:
        """Run a unit of work. If it fails, what it did is undone, and the transaction goes on."""
        return await self._run(lambda connection: _in_savepoint(connection, unit), short=short)

    async def commit(self, last: Unit[None]) -> None:
        """Run the last unit of work, and commit everything."""

        def finish(connection: Connection) -> None:
            last(connection)
            connection.commit()

        await self._run(finish, short=True)

    async def _run(self, unit: Unit[T], *, short: bool) -> T:
        async with self._lock:
            if self.is_begun and self._session is not None:
                return await self._session.run(unit, short=short)
            self.is_waiting = True
            try:
                self._session = self._session or await self._open_session()
                return await self._session.run(lambda connection: self._begin(connection, unit), short=short)
            except Exception as error:
                if self.is_waiting:
                    self.is_waiting, self.failure = False, error
                raise

    def _begin(self, connection: Connection, unit: Unit[T]) -> T:
        """The first unit of work, together with `first`: one change of thread instead of two."""
        self._first(connection)
        self.is_waiting, self.is_begun = False, True
        return unit(connection)

    async def close(self) -> None:
        """End the transaction."""
        self._is_over = True
        if self._session is not None and (closing := self._session.close()) is not None:
            # Shielded: a call that is being cancelled may be cancelled again at each await.
            await asyncio.shield(closing)


def _in_savepoint(connection: Connection, unit: Unit[T]) -> T:
    # `connection.begin_nested()` does the same, and compiles these statements each time: 60 µs more.
    connection.exec_driver_sql("SAVEPOINT unit")
    try:
        value = unit(connection)
    except BaseException:
        connection.exec_driver_sql("ROLLBACK TO SAVEPOINT unit")
        raise
    connection.exec_driver_sql("RELEASE SAVEPOINT unit")
    return value


_current: ContextVar[Transaction | None] = ContextVar("transaction", default=None)


def current(database: object) -> Transaction | None:
    """The transaction that this call has in this database."""
    transaction = _current.get()
    return transaction if transaction is not None and transaction.is_in(database) else None


@asynccontextmanager
async def one_transaction(
    database: object, open_session: Callable[[], Awaitable[OpenTransaction]], first: Unit[None]
) -> AsyncGenerator[Transaction]:
    """Run the units of work of this task in one transaction."""
    transaction = Transaction(database, open_session, first)
    token = _current.set(transaction)
    try:
        yield transaction
    finally:
        _current.reset(token)
        await transaction.close()
