"""The servers that are measured, and the conditions."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.packages import npm_folder

ROOT = Path(__file__).resolve().parent.parent

ERAS = ("2025-11-25", "2026-07-28")
TOOLS = (1, 100, 1000)
IN_FLIGHT = (1, 32)
NPM_PACKAGES = ("@modelcontextprotocol/client@2.4.0", "@modelcontextprotocol/server@2.4.0")


@dataclass(frozen=True)
class Contender:
    """A server to measure, by the name of its file in bench/peers, and the file that starts it over stdio.

    One without such a file is measured over HTTP only, with its one tool.
    """

    name: str
    label: str
    script: str | None = None

    @property
    def command(self) -> list[str]:
        """Starts it over stdio."""
        assert self.script is not None
        return [sys.executable, str(ROOT / self.script), "stdio"]


def _by_name(*contenders: Contender) -> dict[str, Contender]:
    return {contender.name: contender for contender in contenders}


CONTENDERS = _by_name(
    Contender("direct_asgi", "direct ASGI function"),
    Contender("low_level", "bare low-level SDK", "bench/peers/low_level.py"),
    Contender("mcp_server", "bare `MCPServer`", "bench/peers/mcp_server.py"),
    Contender("plain_fastmcp", "bare FastMCP 4", "bench/peers/plain_fastmcp.py"),
    Contender("fastmcp_middlewares", "FastMCP 4 + five middlewares", "bench/peers/fastmcp_middlewares.py"),
    Contender("governed_native", "**governed, native**", "examples/demo.py"),
    Contender("governed_fastmcp", "**governed, on FastMCP 4**", "bench/peers/governed_fastmcp.py"),
)
SQLITE = _by_name(
    Contender("todo", "**`mcp-todo`**"),
    Contender("todo_low_level", "written by hand on the low-level SDK"),
    Contender("todo_fastmcp", "our store on FastMCP 4"),
)
"""Servers with a tool that adds a row to a table."""

OURS = {
    "demo": ("toolcharter", "stdio", "demo"),
    "todo": ("mcp-todo",),
    "guide": ("mcp-guide",),
    "atl": ("mcp-atl", "--sandbox"),
    "noema": ("mcp-noema",),
}
TYPESCRIPT = "typescript"
STARTED = {
    **{name: f"**{' '.join(words)}**" for name, words in OURS.items()},
    TYPESCRIPT: "TypeScript SDK 2, Node",
    **{name: CONTENDERS[name].label for name in ("low_level", "mcp_server", "plain_fastmcp")},
}
"""The servers whose start is measured."""


def start_command(name: str) -> list[str]:
    """Starts a server over stdio. Raises NotInstalled where Node is not at hand."""
    if name in OURS:
        program, *options = OURS[name]
        return [str(Path(sys.executable).with_name(program)), *options]
    if name == TYPESCRIPT:
        modules = str(npm_folder(*NPM_PACKAGES))
        return [shutil.which("node") or "node", str(ROOT / "bench/peers/typescript.mjs"), modules]
    return CONTENDERS[name].command
