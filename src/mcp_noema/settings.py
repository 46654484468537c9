"""The settings of the learning server, in addition to those of every server."""

from pathlib import Path

from pydantic import Field

from toolcharter import Settings


class NoemaSettings(Settings):
    """The settings of every server, and the folder for Anki files."""

    files: Path | None = Field(
        default=None,
        title="DIR",
        description="Folder that Anki files are imported from and exported to. Default: the downloads folder.",
    )


def default_files() -> Path:
    """The folder for Anki files if none is set."""
    from platformdirs import user_downloads_path  # noqa: PLC0415 - 2 ms, and not needed with --files

    return user_downloads_path()
