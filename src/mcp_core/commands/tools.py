"""List a server's tools, or show one of them in full. Readable on a terminal, JSON in a pipe."""

import argparse
import asyncio
import os
import sys

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from mcp_core.commands import connection
from mcp_core.commands.connection import CannotRun
from mcp_core.listed import ListedTool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    connection.add_arguments(parser)
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="show this tool in full")


def run(options: argparse.Namespace) -> int:
    """List or show."""
    if options.command:
        # The server stands after `--`, so a word before it is the tool.
        options.server, options.tool = None, options.server
    return asyncio.run(_run(options))


async def _run(options: argparse.Namespace) -> int:
    async with connection.connect(options) as server:
        tools = await server.list_tools()
        if options.tool is None:
            _show_all(tools)
            return os.EX_OK
        found = next((tool for tool in tools if tool.name == options.tool), None)
        if found is None:
            raise CannotRun(f"No tool {options.tool!r}. There are: {', '.join(tool.name for tool in tools)}.")
        _show_one(found, await server.documentation(found))
    return os.EX_OK


def _show_all(tools: list[ListedTool]) -> None:
    if not sys.stdout.isatty():
        connection.print_json({"tools": [tool.to_wire() for tool in tools]})
        return
    table = Table("tool", "arguments", "what it does", box=None, padding=(0, 2, 0, 0))
    for tool in tools:
        required = set(tool.input_schema.get("required", ()))
        names = [n if n in required else f"[dim]{n}[/dim]" for n in tool.input_schema.get("properties", {})]
        table.add_row(f"[bold]{tool.name}[/bold]", " ".join(names), _summary(tool))
    Console().print(table)


def _summary(tool: ListedTool) -> str:
    lines = [line for line in tool.description.splitlines() if line and not line.startswith("#")]
    return lines[0].partition(". ")[0].rstrip(".") if lines else tool.title


def _show_one(tool: ListedTool, documentation: str) -> None:
    if sys.stdout.isatty():
        Console().print(Markdown(f"# {tool.name}\n\n{documentation}"))
    else:
        connection.print_json(tool.to_wire() | {"documentation": documentation})
