"""The settings of the guide, and its default folders."""

from pathlib import Path
from typing import Final, Literal

import platformdirs
from pydantic import Field

from toolcharter import Settings

PREFIX: Final = "guide"
"""The default prefix of the tool names."""
STARTER_FOLDER: Final = Path(__file__).parent / "starter"
"""The starter documents: what `mcp-guide init` writes, and what is served before it was run."""


class GuideSettings(Settings):
    """The settings of every server but the database, and four more."""

    unused = frozenset({"db"})

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
        description="Active project. Default: the project whose folder is the working directory.",
    )

    tools: Literal["all", "read"] = Field(
        default="all", description="Tools to serve: all, or only those that read, search and find rules (read)."
    )


def default_docs_root() -> Path:
    """The document root if no other is set."""
    return platformdirs.user_data_path("toolcharter") / "guide"


def default_config_path() -> Path:
    """The configuration file if no other is set."""
    return platformdirs.user_config_path("toolcharter") / "guide.yaml"


def default_index_folder() -> Path:
    """The folder of the search indexes."""
    return platformdirs.user_cache_path("toolcharter") / "guide"
