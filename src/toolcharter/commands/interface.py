"""The interface of a connected server, whether it runs in this process or elsewhere."""

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from mcp_core.declare.listed import ListedTool

if TYPE_CHECKING:
    from mcp_core.calling.records import Answer
    from mcp_core.context import ReportProgress
    from mcp_core.text.json_text import JsonObject


class ServerConnection(Protocol):
    """A server that a command can list and call."""

    @property
    def identity(self) -> tuple[str, str | None]:
        """The name of the server, and its version if it has one."""
        ...

    async def list_tools(self) -> list[ListedTool]:
        """All tools."""
        ...

    async def list_prompts(self) -> "list[JsonObject]":
        """All prompts, as in the protocol."""
        ...

    async def list_resources(self) -> "list[JsonObject]":
        """All resources and templates, as in the protocol."""
        ...

    async def other_texts(self) -> "JsonObject":
        """The other texts for agents: `instructions`, `prompts` and `resources`; `problems` has the failures."""
        ...

    async def documentation(self, tool: ListedTool) -> str:
        """The full documentation of a tool."""
        ...

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: "ReportProgress | None" = None,
        meta: Mapping[str, Any] | None = None,
    ) -> "Answer":
        """Call a tool. `progress` is called with what the tool reports; `meta` is sent as `_meta`."""
        ...


def is_address(target: str) -> bool:
    """Whether a target is an HTTP address."""
    return target.startswith(("http://", "https://"))


def token_of(options: argparse.Namespace) -> str | None:
    """The bearer token for a server at an address."""
    return options.token or os.environ.get("TOOLCHARTER_TOKEN")
