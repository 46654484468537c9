"""Idempotency keys in the database of a server, in the same transaction as what their calls write.

After a crash either both are there, the change and its answer, or neither. The second of two calls with the same key
waits, at the row of the key, until the first has ended.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

from sqlalchemy import Connection, text

from mcp_core.db.database import Database, short_unit
from mcp_core.db.transaction import Transaction
from mcp_core.errors import Unavailable
from mcp_core.idempotency.keys import KeyBusy, KeyedCall, KeyRecord, KeyTaken

CLEANUP_SECONDS = 60.0
"""Expired keys are deleted once in this time, after a call with a key."""
MAX_DELETED = 1000
"""At once, so that no call waits for long."""

_FIND = text(
    "SELECT arguments, answer FROM toolcharter_idempotency "
    "WHERE server = :server AND caller = :caller AND key = :key AND expires_at > :now"
)
# A key that is taken but has expired is free. PostgreSQL waits here for a transaction that holds the row.
_TAKE = text(
    "INSERT INTO toolcharter_idempotency (server, caller, key, tool, arguments, expires_at) "
    "VALUES (:server, :caller, :key, :tool, :digest, :expires) "
    "ON CONFLICT (server, caller, key) DO UPDATE "
    "SET tool = excluded.tool, arguments = excluded.arguments, expires_at = excluded.expires_at, answer = NULL "
    "WHERE toolcharter_idempotency.expires_at <= :now"
)
_ANSWER = text(
    "UPDATE toolcharter_idempotency SET answer = :answer WHERE server = :server AND caller = :caller AND key = :key"
)
_CLEAN_UP = (
    "DELETE FROM toolcharter_idempotency WHERE (server, caller, key) IN "
    "(SELECT server, caller, key FROM toolcharter_idempotency WHERE expires_at <= :now LIMIT :most {lock})"
)


class SqlKeyStore:
    """The keys of one server, in its database."""

    def __init__(
        self, database: Database, server: str, retention: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._database, self._server, self._retention, self._clock = database, server, retention, clock
        self._next_cleanup = 0.0

    async def find(self, call: KeyedCall) -> KeyRecord | None:
        return await self._database.read(_find, self._identify(call) | {"now": int(self._clock())})

    @asynccontextmanager
    async def claim(self, call: KeyedCall) -> AsyncGenerator["_SqlClaim"]:
        now, identity = self._clock(), self._identify(call)
        values = identity | {"tool": call.tool, "digest": call.digest}
        values |= {"now": int(now), "expires": int(now + self._retention) + 1}
        async with self._database.transaction(partial(_take, values=values)) as transaction:
            try:
                yield _SqlClaim(transaction, identity)
            except Exception as error:  # noqa: BLE001 - the handler may have turned what the claim raised into another
                raise _claim_error(transaction) or error from error.__cause__
            if error := _claim_error(transaction):
                raise error
        await self._clean_up(now)

    async def _clean_up(self, now: float) -> None:
        if now < self._next_cleanup:
            return
        self._next_cleanup = now + CLEANUP_SECONDS
        with suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(1):
                # More keys expire than are deleted at once: the next call deletes as many again.
                if await self._database.write(_clean_up, now) == MAX_DELETED:
                    self._next_cleanup = now

    def _identify(self, call: KeyedCall) -> dict[str, str | int]:
        return {"server": self._server, "caller": call.caller, "key": call.key}


def _claim_error(transaction: Transaction) -> Exception | None:
    return KeyBusy() if transaction.is_waiting else transaction.failure


class _SqlClaim:
    """A key whose row is locked in the transaction of the call."""

    def __init__(self, transaction: Transaction, identity: dict[str, str | int]) -> None:
        self._transaction, self._identity = transaction, identity

    async def complete(self, answer: str, *, failed: bool) -> None:
        """Commit the answer and the changes. A call that failed changes nothing, and its key stays free."""
        if not failed:
            await self._transaction.commit(partial(_keep_answer, values=self._identity | {"answer": answer}))

    def abandon(self) -> None:
        """Nothing to note: without an answer, the transaction is rolled back."""


@short_unit
def _find(connection: Connection, identity: dict[str, str | int]) -> KeyRecord | None:
    row = connection.execute(_FIND, identity).one_or_none()
    return None if row is None else KeyRecord(*row)


def _take(connection: Connection, values: dict[str, str | int]) -> None:
    if connection.execute(_TAKE, values).rowcount != 1:
        record = _find(connection, values)
        raise KeyBusy if record is None else KeyTaken(record)


def _keep_answer(connection: Connection, values: dict[str, str | int]) -> None:
    connection.execute(_ANSWER, values)


def _clean_up(connection: Connection, now: float) -> int:
    """Delete some of the expired keys. Returns how many."""
    lock = "FOR UPDATE SKIP LOCKED" if connection.dialect.name == "postgresql" else ""
    return connection.execute(text(_CLEAN_UP.format(lock=lock)), {"now": int(now), "most": MAX_DELETED}).rowcount
