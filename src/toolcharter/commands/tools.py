"""List a server's tools, prompts and resources, or show a tool in full. Readable on a terminal, JSON in a pipe."""

import argparse
import asyncio
import os
import sys

from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.table import Table

from mcp_core.calling.library import DOCS_SCHEME
from mcp_core.declare.listed import ListedTool
from mcp_core.json_text import JsonObject
from toolcharter.commands import CannotRun, connection


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    connection.add_arguments(parser)
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="show this tool in full")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--prompts", action="store_true", help="list the prompts instead")
    other.add_argument("--resources", action="store_true", help="list the resources instead")


def run(options: argparse.Namespace) -> int:
    """List or show."""
    if options.command:
        # The server stands after `--`, so a word before it is the tool.
        options.server, options.tool = None, options.server
    return asyncio.run(_run(options))


async def _run(options: argparse.Namespace) -> int:
    async with connection.connect(options) as server:
        if options.prompts or options.resources:
            _show_others(
                *([await server.list_prompts(), []] if options.prompts else [[], await server.list_resources()])
            )
            return os.EX_OK
        tools = await server.list_tools()
        if options.tool is None:
            _show_all(tools)
            if sys.stdout.isatty():
                documents = [r for r in await server.list_resources() if not _is_document(r)]
                _show_others(await server.list_prompts(), documents)
            return os.EX_OK
        found = connection.meant(options.tool, tools)
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


def _is_document(resource: JsonObject) -> bool:
    """Whether it is the documentation of a tool, which the tool's own line leads to."""
    return str(resource.get("uri", "")).startswith(DOCS_SCHEME)


def _show_others(prompts: list[JsonObject], resources: list[JsonObject]) -> None:
    if not sys.stdout.isatty():
        connection.print_json(prompts or resources)
        return
    if prompts:
        table = Table("prompt", "arguments", "what it gives", box=None, padding=(0, 2, 0, 0))
        for prompt in prompts:
            given = prompt.get("arguments") or ()
            names = [escape(a["name"]) if a.get("required") else f"[dim]{escape(a['name'])}[/dim]" for a in given]
            words = _first_sentence(prompt.get("description") or "") or prompt.get("title") or ""
            table.add_row(f"[bold]{escape(prompt['name'])}[/bold]", " ".join(names), escape(words))
        Console().print("", table)
    if resources:
        table = Table("resource", "what it is", box=None, padding=(0, 2, 0, 0))
        for resource in resources:
            uri = resource.get("uri") or resource["uriTemplate"]
            table.add_row(f"[bold]{escape(uri)}[/bold]", escape(resource.get("description") or resource["name"]))
        Console().print("", table)


def _summary(tool: ListedTool) -> str:
    return _first_sentence(tool.description) or tool.title


def _first_sentence(text: str) -> str:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return lines[0].partition(". ")[0].rstrip(".") if lines else ""


def _show_one(tool: ListedTool, documentation: str) -> None:
    if sys.stdout.isatty():
        Console().print(Markdown(f"# {tool.name}\n\n{documentation}"))
    else:
        connection.print_json(tool.to_wire() | {"documentation": documentation})
