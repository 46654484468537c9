"""Anki packages imported and exported. What takes long runs in threads, so that the server stays responsive."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Self

from mcp_noema.model import DeckId
from mcp_noema.records import ExportSummary, ImportSummary, ReportProgress
from mcp_noema.store.anki import imports
from mcp_noema.store.anki.prepared_import import PreparedImport, ReportRows
from toolcharter.db import Database
from toolcharter.plurals import count

_MIN_ROWS_TO_REPORT = 10_000


async def import_file(
    database: Database,
    owner: str,
    path: Path,
    deck_id: DeckId | None,
    now: datetime,
    *,
    report_progress: ReportProgress,
) -> ImportSummary:
    """Import a file, inside a deck if one is given: all of it, or nothing."""
    with PreparedImport() as prepared:
        async with _ProgressReports(report_progress) as progress:
            progress.report(0, 1, "Reading the file.")
            await asyncio.to_thread(_read, path, prepared, now, progress)
            rows = prepared.count_rows()
            size = f"{count(len(prepared.notes), 'note')}, {count(len(prepared.cards), 'card')}"
            size = f"{size} and {count(len(prepared.reviews), 'review')}"
            progress.report(rows, 2 * rows, f"The file has {size}.")
            report_rows = progress.start(rows, 2 * rows, "written", before=rows)
            summary = await database.write(
                imports.write_package, owner, prepared, deck_id, now, report_rows=report_rows
            )
            progress.report(2 * rows, 2 * rows, "Done.")
    return summary


async def export_file(
    database: Database,
    owner: str,
    path: Path,
    deck_id: DeckId | None,
    now: datetime,
    *,
    report_progress: ReportProgress,
    scheduling: bool,
    overwrite: bool,
) -> ExportSummary:
    """Write a deck with its subdecks, or all decks, to a file."""
    from mcp_noema.anki.package_writer import PackageWriter  # noqa: PLC0415 - 7 ms, and few sessions export a file
    from mcp_noema.store.anki import exports  # noqa: PLC0415 - it imports package_writer

    await report_progress(0, 1, "Reading the cards.")
    export = await exports.start(database, owner, deck_id, now, scheduling=scheduling)
    outline = await asyncio.to_thread(export.outline)
    cards = len(outline.card_times)

    async def report_cards(done: int) -> None:
        await report_progress(done, cards, f"{done:,} of {count(cards, 'card')} written.")

    writer = await asyncio.to_thread(PackageWriter, outline, path)
    try:
        await exports.write(database, export, writer, report_cards)
        size = await asyncio.to_thread(writer.finish, overwrite=overwrite)
    finally:
        await asyncio.to_thread(writer.close)
    return ExportSummary(
        decks=len(outline.decks), notes=len(outline.note_times), cards=cards, reviews=export.review_count, size=size
    )


def _read(path: Path, prepared: PreparedImport, now: datetime, progress: "_ProgressReports") -> None:
    from mcp_noema.anki.package_reader import open_package  # noqa: PLC0415 - 27 ms, and few sessions import a file

    with open_package(path) as package:
        rows = package.count_rows()
        prepared.read(package, now, progress.start(rows, 2 * rows, "read"))


class _ProgressReports:
    """Sends progress reports that come from any thread, in their order."""

    def __init__(self, report_progress: ReportProgress) -> None:
        self._report_progress = report_progress
        self._loop = asyncio.get_running_loop()
        self._reports: asyncio.Queue[tuple[int, int, str] | None] = asyncio.Queue()
        self._sender = asyncio.create_task(self._send())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._reports.put_nowait, None)
        await self._sender

    def report(self, done: int, total: int, message: str) -> None:
        self._loop.call_soon_threadsafe(self._reports.put_nowait, (done, total, message))

    def start(self, rows: int, total: int, what: str, *, before: int = 0) -> ReportRows:
        """A function that counts rows, and reports them from time to time."""
        done = reported = 0

        def add(more: int) -> None:
            nonlocal done, reported
            done += more
            if done - reported >= max(_MIN_ROWS_TO_REPORT, rows // 100):
                reported = done
                self.report(before + done, total, f"{done:,} of {count(rows, 'row')} {what}.")

        return add

    async def _send(self) -> None:
        while (report := await self._reports.get()) is not None:
            await self._report_progress(*report)
