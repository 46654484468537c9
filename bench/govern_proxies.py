"""What stands before an upstream in the benchmark of the governor: nothing, ours, FastMCP's proxy, mcp-proxy."""

import asyncio
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import tomlkit

from bench import messages
from bench.contenders import ROOT
from bench.packages import NotInstalled, pypi_folder
from bench.processes import Served, free_port, serving_command, started, wait_for
from mcp_core.settings.model import Settings
from toolcharter.govern.charter import read_charter
from toolcharter.govern.governor import Governor

MCP_PROXY = "mcp-proxy==0.13.0"
_GOVERN = "from toolcharter.cli import main; main()"
UPSTREAM = [sys.executable, str(ROOT / "bench/peers/low_level.py"), "stdio"]
"""The bare low-level SDK over stdio."""
TINY = [sys.executable, "-S", str(ROOT / "bench/peers/tiny_stdio.py")]
"""A server over stdio in plain Python, of which many can be started."""


@dataclass(frozen=True)
class Proxy:
    """Something to call an upstream through."""

    name: str
    label: str
    era: str = messages.MODERN
    """The newest protocol that it speaks."""
    only: str | None = None
    """The one kind of upstream that it can serve over HTTP."""


DIRECT, OURS = Proxy("direct", "direct to the upstream"), Proxy("ours", "**toolcharter govern**")
FASTMCP = Proxy("default", "FastMCP `create_proxy(target)`")
CONNECTED = Proxy("connected", "FastMCP `create_proxy(client)`, connected once")
OTHER = Proxy("mcp_proxy", f"{MCP_PROXY.replace('==', ' ')}, `--stateless`", messages.LEGACY, "stdio")
PROXIES = (DIRECT, OURS, FASTMCP, CONNECTED, OTHER)


@contextmanager
def serve(proxy: Proxy, upstream: Sequence[str], folder: Path) -> Iterator[Served]:
    """The proxy before an upstream, which is an address or a command."""
    if proxy is OURS:
        with governor({"one": {**_table(upstream), "prefix": ""}}, folder) as served:
            yield served
    elif proxy is OTHER:
        port = free_port()
        command = [mcp_proxy_command()[0] or "", "--port", str(port), "--stateless", "--log-level", "WARNING", "--"]
        with started([*command, *upstream], folder) as process:
            yield wait_for(Served(port, process.pid))
    else:
        with started([sys.executable, "-m", "bench.peers.fastmcp_proxy", proxy.name, *upstream], folder) as process:
            assert process.stdout is not None
            yield wait_for(Served(int(process.stdout.readline()), process.pid))


@contextmanager
def governor(upstreams: Mapping[str, Mapping[str, object]], folder: Path, *options: str) -> Iterator[Served]:
    """The governor with these upstreams, all of whose tools are approved."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / "charter.toml"
        path.write_text(tomlkit.dumps({"upstream": upstreams}), encoding="utf-8")
        asyncio.run(_approve_all(path))
        command = [sys.executable, "-c", _GOVERN, "govern", "http", "--charter", str(path), "--port", "0", *options]
        with serving_command(command, folder) as served:
            yield served


async def _approve_all(path: Path) -> None:
    governor = Governor(path, read_charter(path), Settings(), "bench")
    try:
        for name in governor.upstreams:
            governor.approve(name, await governor.look(name), [])
    finally:
        await governor.close()


def _table(upstream: Sequence[str]) -> dict[str, object]:
    return {"url": upstream[0]} if upstream[0].startswith("http") else {"command": list(upstream)}


def mcp_proxy_command() -> tuple[str | None, str]:
    """The command of mcp-proxy, installed once in an environment of its own, or why it cannot be had."""
    try:
        return str(pypi_folder(MCP_PROXY, "uvloop") / "mcp-proxy"), ""
    except NotInstalled as problem:
        return None, f"{MCP_PROXY} cannot be installed: {problem}"
