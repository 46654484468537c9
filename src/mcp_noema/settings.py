"""What a person can set for the learning server, besides what every server has."""

from importlib import import_module
from pathlib import Path

from pydantic import Field

from mcp_core import Settings


class NoemaSettings(Settings):
    """The settings of every server, and one more."""

    files: Path | None = Field(
        default=None,
        title="DIR",
        description="Folder that Anki files are imported from and exported to. Default: the downloads folder.",
    )


def default_files() -> Path:
    """Where Anki files are when nobody says otherwise."""
    return import_module("platformdirs").user_downloads_path()
