"""Writes the audit records of one server, and does what the policy says when one cannot be written."""

import asyncio
import os
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from json.encoder import encode_basestring as quoted
from typing import Literal, NamedTuple, Protocol

from mcp_core.audit.chain import Chain
from mcp_core.audit.file import FileSink
from mcp_core.errors import Unavailable
from mcp_core.logs.telemetry import AUDIT_RECORDS, Sample
from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)

FailurePolicy = Literal["refuse", "continue"]
"""The treatment of calls while no audit record can be written."""

CHECKPOINT_RECORDS = 10_000
"""After as many records, the log gets a line that identifies the last one."""
MAX_QUEUED = 10_000
"""Records that may wait for a database. Further ones are lost, or their calls refused."""
MAX_IN_BATCH = 500
WRITE_SECONDS = 5.0
"""How long an answer waits until its record is in a database."""
RETRY_SECONDS = 1.0
_LOG_SECONDS = 10.0
"""How often the log says that records cannot be written."""


class Columns(NamedTuple):
    """The columns by which a record in a database is looked up."""

    time: str
    tool: str | None
    caller: str | None
    outcome: str


class Row(NamedTuple):
    """A record for a database."""

    chain: str
    seq: int
    columns: Columns
    line: str


class SqlSink(Protocol):
    """A database that takes many records at once."""

    @property
    def location(self) -> str:
        """The URL without the password."""
        ...

    async def write(self, rows: Sequence[Row]) -> None:
        """Store the rows. Raises an exception if they are not stored."""
        ...

    async def close(self) -> None:
        """Close the database."""
        ...


class _Queued(NamedTuple):
    members: str
    columns: Columns


class AuditTrail:
    """The trail of one server in one process. A file is written at once; a database in batches, by a task."""

    def __init__(
        self,
        server: str,
        sink: FileSink | SqlSink,
        *,
        version: str = "",
        policy: FailurePolicy = "continue",
        key: bytes | None = None,
        with_arguments: bool = False,
    ) -> None:
        self.chain, self._sink = Chain(server, key), sink
        self._file = sink if isinstance(sink, FileSink) else None
        self.with_arguments = with_arguments
        """Whether records have the arguments, redacted, besides their digest."""
        self.refuses = policy == "refuse"
        """Whether an answer is withheld if its record cannot be written."""
        self.failing = False
        """Whether the last try to write failed."""
        self.written = self.lost = 0
        self._unreported = 0
        """Lost records that the trail itself does not mention yet."""
        self._logged = -_LOG_SECONDS
        self._held: list[str] | None = None
        """Records for a file that are written together, as their members."""
        self._queue: deque[_Queued] = deque()
        self._added_records = self._finished = 0
        """Records for a database, since the start: those that were queued, and those that are stored."""
        self._added, self._settled = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._opened = (
            f'"event":"opened","server":{quoted(server)},"version":{quoted(version)},'
            f'"host":{quoted(socket.gethostname())},"pid":{os.getpid()}'
        )

    async def open(self) -> None:
        """Write the first record. The policy holds from here on."""
        if not isinstance(self._sink, FileSink):
            self._task = asyncio.ensure_future(self._write_batches(self._sink))
        self._append_event(self._opened)

    async def close(self) -> None:
        """Write the last record, wait until all are written, and close the file or database."""
        self._append_event('"event":"closed"')
        if self._task is not None:
            self._closing = True
            self._added.set()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._task, WRITE_SECONDS)
            if waiting := self._added_records - self._finished:
                self._lose(waiting, f"{waiting} were still waiting at the end")
        self._log_checkpoint()
        if isinstance(self._sink, FileSink):
            self._sink.close()
        else:
            await self._sink.close()

    def append(self, members: str, time: str, tool: str | None, caller: str | None, outcome: str) -> bool:
        """Add a record, given its members as JSON text. Returns whether it was written or queued.

        The other arguments repeat members: a database can be searched by them.
        """
        if self._task is None:
            return self._write(members)
        if len(self._queue) >= MAX_QUEUED:
            self._lose(1, f"{MAX_QUEUED} already wait")
            return False
        self._queue.append(_Queued(members, Columns(time, tool, caller, outcome)))
        self._added_records += 1
        self._added.set()
        return True

    def hold(self) -> None:
        """Write the records that follow with one system call, in `release`. Nothing may be answered before it."""
        if self._file is not None and not self.refuses:  # otherwise each answer depends on its own record
            self._held = []

    def release(self) -> None:
        """Write the records since `hold`."""
        held, self._held = self._held, None
        if held:
            written = self._write_together(held)
            for members in held[written:]:
                self._write(members)

    async def settled(self) -> bool:
        """Whether all records so far are written. Waits for a database, for a bounded time."""
        if self._task is None:
            return not self.failing
        wanted = self._added_records
        with suppress(TimeoutError):
            async with asyncio.timeout(WRITE_SECONDS):
                while self._finished < wanted and not self.failing:
                    self._settled.clear()
                    await self._settled.wait()
        return self._finished >= wanted

    def check(self) -> None:
        """Refuse a call while records cannot be written, if the policy says so. Tries again first."""
        if not (self.failing and self.refuses):
            return
        if self._task is None and self._write(_event('"event":"resumed"'), 0):
            return
        raise Unavailable("The audit trail cannot be written, so this server carries out no calls. Nothing was done.")

    def samples(self) -> Iterator[Sample]:
        """The records as a metric."""
        yield Sample(AUDIT_RECORDS, ("written",), self.written)
        yield Sample(AUDIT_RECORDS, ("lost",), self.lost)

    # --- writing ---------------------------------------------------------------------------------------

    def _append_event(self, members: str) -> bool:
        """Add a record about the trail itself."""
        return self.append(_event(members), _now(), None, None, "event")

    def _write(self, members: str, requests: int = 1) -> bool:
        """Append a record to the file. `requests` is how many are lost if it cannot be written."""
        file, chain = self._file, self.chain
        if file is None:
            return False
        if self._held is not None:
            self._held.append(members)
            return True
        try:
            if self._unreported:
                file.write(chain.line(self._loss()))
                chain.advance()
                self.written += 1
                self._unreported = 0
            file.write(chain.line(members))
        except OSError as error:
            self._lose(requests, str(error))
            return False
        chain.advance()
        self.written += 1
        if self.failing or self.written % CHECKPOINT_RECORDS == 0:
            self._note_written(1)
        return True

    def _write_together(self, records: Sequence[str]) -> int:
        """Append records with one system call. Returns how many are written: fewer if something is wrong."""
        if self._file is None or self._unreported or len(records) == 1:
            return 0
        chain, lines, places = self.chain, list[bytes](), [self.chain.place]
        for members in records:
            lines.append(chain.line(members))
            chain.advance()
            places.append(chain.place)
        try:
            written = self._file.write_together(lines)
        except OSError:
            written = 0
        chain.place = places[written]
        self.written += written
        self._note_written(written)
        return written

    async def _write_batches(self, sink: SqlSink) -> None:
        while self._queue or not self._closing:
            if not self._queue:
                self._added.clear()
                await self._added.wait()
                continue
            batch = [self._queue.popleft() for _ in range(min(MAX_IN_BATCH, len(self._queue)))]
            unreported = self._unreported
            if unreported:
                batch.append(_Queued(self._loss(), batch[-1].columns))
                self._unreported = 0
            await self._write_rows(sink, [self._row(queued) for queued in batch])
            self._finished += len(batch) - bool(unreported)
            self.written += len(batch)
            self._note_written(len(batch))
            self._settled.set()

    async def _write_rows(self, sink: SqlSink, rows: Sequence[Row]) -> None:
        """Store rows, and try again until they are stored. Those that were stored after all stay as they are."""
        while True:
            try:
                async with asyncio.timeout(WRITE_SECONDS):
                    return await sink.write(rows)
            except Exception as error:  # noqa: BLE001 - whatever the driver raises: it is tried again
                self._fail(str(error) or type(error).__name__)
            await asyncio.sleep(RETRY_SECONDS)

    def _row(self, queued: _Queued) -> Row:
        line = self.chain.line(queued.members)
        self.chain.advance()
        return Row(self.chain.id, self.chain.seq, queued.columns, line.decode("utf-8", "replace").rstrip("\n"))

    def _loss(self) -> str:
        return _event(f'"event":"lost","records":{self._unreported}')

    def _note_written(self, records: int) -> None:
        """Note that the last records were written."""
        if self.failing and records:
            self.failing = False
            logger.warning("Audit records are written again; %d were lost", self.lost)
        if (self.written - records) // CHECKPOINT_RECORDS != self.written // CHECKPOINT_RECORDS:
            self._log_checkpoint()

    def _log_checkpoint(self) -> None:
        logger.info("Audit checkpoint %s", self.chain.checkpoint)

    def _lose(self, records: int, reason: str) -> None:
        self.lost += records
        self._unreported += records
        self._fail(reason)

    def _fail(self, reason: str) -> None:
        self.failing = True
        self._settled.set()
        if time.monotonic() - self._logged >= _LOG_SECONDS:
            self._logged = time.monotonic()
            effect = "calls are refused" if self.refuses else "calls go on"
            message = "Audit records cannot be written to %s, and %s: %s (%d lost so far)"
            logger.error(message, self._sink.location, effect, reason, self.lost)


def _event(members: str) -> str:
    return f'"time":"{_now()}",{members}'


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
