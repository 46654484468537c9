"""Checks of how a server behaves when it is called, where its user asks for them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mcp_core.call import Answer
from mcp_core.listed import ListedTool
from mcp_core.verify.rule import Finding, Rule
from mcp_core.verify.subject import Server


class Running(Protocol):
    """A server that can be asked."""

    async def list_tools(self) -> list[ListedTool]:
        """All tools."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool."""
        ...


def live_rules() -> tuple[Rule, ...]:
    """The rules that need a running server, by id."""
    return ()


async def check_live(running: Running, server: Server, rules: Sequence[Rule], *, every: bool) -> list[Finding]:  # noqa: ARG001
    """What calling its tools shows. Those that are not declared read-only are called only with `every`."""
    return []
