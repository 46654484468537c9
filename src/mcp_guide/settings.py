"""What a person can set for the guide, besides what every server has."""

from importlib import import_module
from pathlib import Path
from typing import Final

from pydantic import Field

from mcp_core import Settings

PREFIX: Final = "guide"
"""Of the tool names, where nobody sets another."""


class GuideSettings(Settings):
    """The settings of every server, and three more."""

    docs_root: Path | None = Field(
        default=None, title="DIR", description="Folder of the documents. Default: guide in the platform's data folder."
    )
    config: Path | None = Field(
        default=None,
        title="FILE",
        description="Configuration of the guide. Default: guide.yaml in the platform's configuration folder.",
    )
    project: str | None = Field(
        default=None,
        min_length=1,
        title="NAME",
        description="Project that calls mean. Default: the one whose folder this is.",
    )


def default_docs_root() -> Path:
    """Where documents are when nobody says otherwise."""
    return import_module("platformdirs").user_data_path("toolcharter") / "guide"
