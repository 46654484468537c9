"""The effect of a tool without annotations, read from its name and description, as `verify` reads them."""

from collections.abc import Sequence
from typing import NamedTuple

from mcp_core.declare.listed import ListedTool
from toolcharter.verify.engine import server_from_tools
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rules.annotations.destructive_unmarked import destroying_verb

_HARMLESS = ("reading", "computing")


class Intent(NamedTuple):
    """The assumed effect of a tool."""

    declares_read_only: bool = False
    """Whether the tool itself says that it changes nothing."""
    is_read_only: bool = False
    """The same, or its name and description say so."""
    is_destructive: bool = False


def read_intents(tools: Sequence[ListedTool], server: str) -> dict[str, Intent]:
    """The intent of each tool, by name."""
    read = server_from_tools(tools, server)
    return {tool.name: _intent(tool, read) for tool in read.tools}


def _intent(tool: Tool, server: Server) -> Intent:
    says_deleting = destroying_verb(tool, server) is not None
    declared = tool.hint("readOnlyHint")
    is_read_only = server.effect(tool) in _HARMLESS if declared is None else declared
    # A tool that says that it deletes, and that it is read-only, is not believed.
    return Intent(
        declares_read_only=declared is True and not says_deleting,
        is_read_only=is_read_only and not says_deleting,
        is_destructive=says_deleting or (tool.hint("destructiveHint") is True and not is_read_only),
    )
