"""The settings of the learning server, in addition to those of every server."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from toolcharter import Settings


class NoemaSettings(Settings):
    """The settings of every server, the folder for Anki files, and the form of hints."""

    files: Path | None = Field(
        default=None,
        title="DIR",
        description="Folder that Anki files are imported from and exported to. Default: the downloads folder.",
    )
    hints: Literal["full", "lean"] = Field(
        default="full",
        description="Hints with all fields (full), or only what an agent acts on, in a third of the bytes (lean).",
    )


def default_files() -> Path:
    """The folder for Anki files if none is set."""
    from platformdirs import user_downloads_path  # noqa: PLC0415 - 2 ms, and not needed with --files

    return user_downloads_path()
