"""Read the audit trail of a server, follow it, or verify that nothing in it was changed.

TRAIL is the file or the database URL that the server has as --audit; default: TOOLCHARTER_AUDIT. Rotated files are read
too. `toolcharter audit verify [TRAIL]` exits with 1 if a record was changed, removed or moved.
"""

import argparse
import asyncio
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mcp_core.audit import TrailReport, read_key, verify
from mcp_core.audit.chain import Record, parse
from mcp_core.audit.reader import POLL_SECONDS, RecordFilter, follow_records, read_lines, read_records, trail_files
from mcp_core.foreign.terminal import escape_invisible, print_text
from mcp_core.process.extras import RequiresExtra
from mcp_core.process.interrupt import run_interruptible
from mcp_core.settings.model import environment_variable, parse_duration
from mcp_core.text.plurals import count
from toolcharter.commands import UsageError

BROKEN = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s [verify] [options] [TRAIL]"
    parser.add_argument("words", nargs="*", metavar="[verify] [TRAIL]", help="what to do, and with which trail")
    parser.add_argument("--tool", metavar="NAME", help="only calls of this tool; or this prompt or resource")
    parser.add_argument("--caller", metavar="USER", help="only requests of this caller, such as user:ann or ann")
    parser.add_argument("--outcome", metavar="OUTCOME", help="only requests that ended so: ok, system, refused ...")
    parser.add_argument("--since", metavar="TIME", help="only later requests: 2h, 7d, or 2026-11-18T10:00")
    parser.add_argument("--last", metavar="N", type=int, help="only the last N of them")
    parser.add_argument("--follow", action="store_true", help="go on with records as they are written, until Ctrl+C")
    parser.add_argument("--json", action="store_true", help="print the records as they are")
    parser.add_argument("--audit-key", metavar="FILE", type=Path, help="for verify: the key of the trail")
    parser.add_argument(
        "--checkpoints", metavar="FILE", type=Path, help="for verify: any text with checkpoints in it, such as a log"
    )


def run(options: argparse.Namespace) -> int:
    """Print records, or verify them."""
    words = list(options.words)
    verifies = bool(words) and words[0] == "verify"
    trail = _trail(words[1:] if verifies else words)
    if verifies:
        key = read_key(options.audit_key) if options.audit_key else None
        return _print_report(_verify(trail, key, _text_of(options.checkpoints)), keyed=key is not None)
    wanted = RecordFilter(options.tool, options.caller, options.outcome, _since(options.since))
    if "://" in trail:
        run_interruptible(_print_from_database(trail, wanted, options))
    else:
        _print_from_files(Path(trail).expanduser(), wanted, options)
    return os.EX_OK


def _trail(words: list[str]) -> str:
    variable = environment_variable("audit")
    if len(words) > 1:
        raise UsageError(f"Give one trail, not {len(words)}: {', '.join(words)}")
    trail = words[0] if words else os.environ.get(variable, "")
    if not trail:
        raise UsageError(f"Name the file or the database of a trail, or set {variable}.")
    if "://" not in trail and not trail_files(Path(trail).expanduser()):
        raise UsageError(f"The file {trail} does not exist.")
    return trail


def _since(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        try:
            moment = datetime.now(UTC) - timedelta(seconds=parse_duration(text))
        except (ValueError, OverflowError):
            raise UsageError(f"--since: {text!r} is not a time; write 2h, 7d or 2026-11-18T10:00.") from None
    return moment.isoformat(timespec="milliseconds")


# --- records -------------------------------------------------------------------------------------------------


def _print_from_files(path: Path, wanted: RecordFilter, options: argparse.Namespace) -> None:
    # Opened before the rest is read, so that no record in between is missed; those that are read twice are known.
    following = follow_records(path) if options.follow else ()
    heads: dict[str, int] = {}
    for record in _last(_wanted(read_records(path), wanted, heads), options.last):
        _print_record(record, as_json=options.json)
    for record in _wanted(following, wanted, heads):
        _print_record(record, as_json=options.json)


def _wanted(records: Iterable[Record], wanted: RecordFilter, heads: dict[str, int]) -> Iterator[Record]:
    """The records that are wanted and not known yet. `heads` has the last number of each chain."""
    for record in records:
        if record.seq > heads.get(record.chain, 0):
            heads[record.chain] = record.seq
            if wanted.matches(record.members):
                yield record


def _last(records: Iterator[Record], number: int | None) -> Iterator[Record]:
    return records if number is None else iter(deque(records, maxlen=max(0, number)))


async def _print_from_database(url: str, wanted: RecordFilter, options: argparse.Namespace) -> None:
    with RequiresExtra("sql", "An audit trail in a database"):
        from mcp_core.audit.sql import DatabaseSink  # noqa: PLC0415 - 180 ms, most of it SQLAlchemy
    sink = await DatabaseSink.open_existing(url)
    try:
        heads = await sink.heads()
        found = [record async for line in sink.find(wanted) if (record := parse(line)) is not None]
        for record in _last(iter(found), options.last):
            _print_record(record, as_json=options.json)
        while options.follow:
            async for record in _newer(sink, heads):
                if wanted.matches(record.members):
                    _print_record(record, as_json=options.json)
            await asyncio.sleep(POLL_SECONDS)
    finally:
        await sink.close()


async def _newer(sink: Any, heads: dict[str, int]) -> AsyncIterator[Record]:
    """The records after the heads, which move on."""
    for chain in await sink.chains():
        async for line in sink.lines(chain, heads.get(chain, 0)):
            record = parse(line)
            if record is not None:
                heads[chain] = record.seq
                yield record


def _print_record(record: Record, *, as_json: bool) -> None:
    print_text(record.line if as_json else escape_invisible(describe(record.members)), flush=True)


def describe(members: dict[str, Any]) -> str:
    """A record in one line for people."""
    if "event" in members:
        details = {key: members[key] for key in ("server", "host", "pid", "records") if key in members}
        return (
            f"{members.get('time')}  -- {members['event']} {' '.join(f'{k}={v}' for k, v in details.items())}".rstrip()
        )
    what = members.get("tool") or f"{members.get('method')} {members.get('name', '')}".rstrip()
    who = members.get("caller") or members.get("address") or "?"
    line = f"{members.get('time')}  {members.get('outcome', '?'):<10} {what}  {who}  {members.get('agent', '')}"
    line += f"  {members.get('ms', 0)} ms"
    if members.get("status"):
        line += f"  HTTP {members['status']}"
    return f"{line}  {members['error']}" if members.get("error") else line


# --- verification ----------------------------------------------------------------------------------------------


def _verify(trail: str, key: bytes | None, checkpoints: str) -> TrailReport:
    if "://" in trail:
        return verify(run_interruptible(_database_lines(trail)), key, checkpoints)
    path = Path(trail).expanduser()
    return verify(((str(file), read_lines(file)) for file in trail_files(path)), key, checkpoints)


async def _database_lines(url: str) -> list[tuple[str, list[bytes]]]:
    with RequiresExtra("sql", "An audit trail in a database"):
        from mcp_core.audit.sql import DatabaseSink  # noqa: PLC0415 - 180 ms, most of it SQLAlchemy
    sink = await DatabaseSink.open_existing(url)
    try:
        return [(chain, [line async for line in sink.lines(chain)]) for chain in await sink.chains()]
    finally:
        await sink.close()


def _text_of(file: Path | None) -> str:
    if file is None:
        return ""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"The file {file} cannot be read: {error.strerror}.") from None


def _print_report(report: TrailReport, *, keyed: bool) -> int:
    for chain in sorted(report.chains.values(), key=lambda chain: chain.id):
        notes = [
            *(["begins here: older records were removed"] if chain.first > 1 else []),
            *([f"{count(chain.lost, 'record')} could not be written at the time"] if chain.lost else []),
            *([] if chain.closed else ["not closed: the server runs, was killed, or the end was removed"]),
        ]
        numbers = f"records {chain.first} to {chain.last}"
        print_text(escape_invisible(f"{chain.id}: {'; '.join([numbers, *notes])}"))
        print_text(f"  checkpoint {escape_invisible(chain.id)}:{chain.last}:{chain.head}")
    if report.fragments:
        print_text(f"{count(report.fragments, 'fragment')} of records, such as a full disk leaves")
    if report.unchecked and not keyed:
        unchecked = count(report.unchecked, "record")
        print_text(f"{unchecked} cannot be checked: give the key of the trail with --audit-key", file=sys.stderr)
    for place, text in report.problems:
        print_text(escape_invisible(f"{place}: {text}"), file=sys.stderr)
    total = count(sum(chain.records for chain in report.chains.values()), "record")
    verdict = f"{count(len(report.problems), 'problem')} found" if report.problems else "no problems found"
    print_text(f"{total} in {count(len(report.chains), 'chain')}: {verdict}")
    return BROKEN if report.problems or report.unchecked else os.EX_OK
