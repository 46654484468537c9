"""The settings of the Atlassian server, in addition to those of every server."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from mcp_core.settings import TextList
from toolcharter import Settings


class AtlSettings(Settings):
    """The settings of every server, and what may be reached at which site. It has no database."""

    unused = frozenset({"db"})

    sandbox: bool = Field(default=False, description="Use the built-in sandbox, also if a real site is configured.")
    sandbox_kind: Literal["cloud", "datacenter"] = Field(
        default="cloud", description="The kind of site that the sandbox imitates."
    )
    sites: Path | None = Field(
        default=None, title="FILE", description="TOML file of named sites, as docs/atl.md shows it."
    )
    read_only: bool = Field(default=False, description="Offer only the commands that change nothing.")
    commands: TextList = Field(default=(), description="Offer only these commands, such as search,get,comment.")
    projects: TextList = Field(default=(), description="Reach only these Jira projects, by key.")
    spaces: TextList = Field(default=(), description="Reach only these Confluence spaces, by key.")
    require_own_credentials: bool = Field(
        default=False,
        description="Over HTTP: refuse calls without credentials of their own: the header X-Atlassian-Authorization, "
        "or a sign-in with `mcp-atl login --caller`.",
    )
    allow_sites: TextList = Field(
        default=(),
        description="Hosts that callers with their own credentials may name in the header X-Atlassian-Site, such as "
        "*.atlassian.net.",
    )
    files: Path | None = Field(
        default=None,
        title="DIR",
        description="Folder that files are uploaded from and downloaded to. Default: the downloads folder.",
    )
