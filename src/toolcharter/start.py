"""Serves an app as the command line says, with the web console over HTTP."""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from mcp_core.app import App
from mcp_core.hosts import run as command
from toolcharter.ctrl_c import WithoutStack

if TYPE_CHECKING:
    from mcp_core.hosts.site.server import MakeConsole


def run(
    server: App | command.Build,
    arguments: Sequence[str] | None = None,
    *,
    about: str = "MCP tools.",
    target: str | None = None,
    changes: AsyncIterator[str] | None = None,
) -> None:
    """Serve an app, or the one that a function `build(settings)` makes, as the command line says.

    Returns when the server has ended; at once in a file that a command only loads, such as `toolcharter call`.
    `target` is the name of a server without a command of its own, which `toolcharter stdio NAME` starts. Over HTTP, it
    is started anew at each of `changes`.
    """
    with WithoutStack():
        command.run(server, arguments, about=about, target=target, console=_load_console, changes=changes)


def _load_console() -> "MakeConsole":
    from toolcharter.console import Console  # noqa: PLC0415 - 55 ms that stdio does not need

    return Console
