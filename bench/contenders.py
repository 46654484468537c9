"""The servers that are measured, and the conditions."""

import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

ERAS = ("2025-11-25", "2026-07-28")
TOOLS = (1, 100, 1000)
IN_FLIGHT = (1, 32)


@dataclass(frozen=True)
class Contender:
    """A server to measure: its module in bench/peers, and the file that starts it over stdio.

    One without such a file is measured over HTTP only, with its one tool.
    """

    name: str
    label: str
    script: str | None

    @property
    def module(self) -> str:
        return f"bench.peers.{self.name}"

    @property
    def command(self) -> list[str]:
        """Starts it over stdio."""
        assert self.script is not None
        return [sys.executable, str(ROOT / self.script), "stdio"]


CONTENDERS = {
    contender.name: contender
    for contender in (
        Contender("direct_asgi", "direct ASGI function", None),
        Contender("low_level", "bare low-level SDK", "bench/peers/low_level.py"),
        Contender("mcp_server", "bare `MCPServer`", "bench/peers/mcp_server.py"),
        Contender("plain_fastmcp", "bare FastMCP 4", "bench/peers/plain_fastmcp.py"),
        Contender("fastmcp_middlewares", "FastMCP 4 + five middlewares", "bench/peers/fastmcp_middlewares.py"),
        Contender("governed_native", "**governed, native**", "examples/demo.py"),
        Contender("governed_fastmcp", "**governed, on FastMCP 4**", "bench/peers/governed_fastmcp.py"),
    )
}
