"""Anki packages imported and exported. What takes long runs in threads, so that the server stays responsive."""

import asyncio
from datetime import datetime
from pathlib import Path

from mcp_core.db import Database
from mcp_core.plurals import count
from mcp_noema.anki.package import Package
from mcp_noema.model import DeckId
from mcp_noema.repositories import ExportSummary, ImportSummary, ReportProgress
from mcp_noema.store import imports

_STEPS = 3


class SqlAnkiPackages:
    """Imports and exports of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def import_file(
        self, owner: str, path: Path, deck_id: DeckId | None, now: datetime, report_progress: ReportProgress
    ) -> ImportSummary:
        await report_progress(0, _STEPS, "Reading the file.")
        package = await asyncio.to_thread(_read, path)
        size = f"{count(len(package.notes), 'note')}, {count(len(package.cards), 'card')}"
        await report_progress(1, _STEPS, f"The file has {size} and {count(len(package.reviews), 'review')}.")
        prepared = await asyncio.to_thread(imports.prepare, package, now)
        await report_progress(2, _STEPS, "Writing to the database.")
        summary = await self._database.write(imports.write_package, owner, prepared, deck_id, now)
        await report_progress(_STEPS, _STEPS, "Done.")
        return summary

    async def export_file(
        self,
        owner: str,
        path: Path,
        deck_id: DeckId | None,
        now: datetime,
        report_progress: ReportProgress,
        *,
        scheduling: bool,
        overwrite: bool,
    ) -> ExportSummary:
        from mcp_noema.anki.package_writer import PackageWriter  # noqa: PLC0415 - 7 ms, and few sessions export a file
        from mcp_noema.store import exports  # noqa: PLC0415 - it imports package_writer

        await report_progress(0, 1, "Reading the cards.")
        export = await exports.start(self._database, owner, deck_id, now, scheduling=scheduling)
        outline = await asyncio.to_thread(export.outline)
        cards = len(outline.card_times)

        async def report_cards(done: int) -> None:
            await report_progress(done, cards, f"{done:,} of {count(cards, 'card')} written.")

        writer = await asyncio.to_thread(PackageWriter, outline, path)
        try:
            await exports.write(self._database, export, writer, report_cards)
            size = await asyncio.to_thread(writer.finish, overwrite=overwrite)
        finally:
            await asyncio.to_thread(writer.close)
        return ExportSummary(
            decks=len(outline.decks), notes=len(outline.note_times), cards=cards, reviews=export.review_count, size=size
        )


def _read(path: Path) -> Package:
    from mcp_noema.anki.package_reader import read_package  # noqa: PLC0415 - 27 ms, and few sessions import a file

    return read_package(path)
