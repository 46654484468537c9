"""List the tools, prompts and resources of a server, or show one tool in full.

A terminal gets tables, a pipe gets JSON.
"""

import argparse
import os
import sys

from rich.markdown import Markdown
from rich.markup import escape as escape_markup
from rich.table import Table

from mcp_core.declare.charter import DOCS_SCHEME
from mcp_core.declare.listed import ListedTool
from mcp_core.foreign.terminal import escape_invisible, escape_lines
from mcp_core.process.interrupt import run_interruptible
from mcp_core.settings.model import AUDIT_SETTINGS
from mcp_core.text.json_text import JsonObject
from toolcharter.commands import connection
from toolcharter.output.terminal import TerminalConsole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    connection.add_arguments(parser, " [TOOL]")
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="show this tool in full")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--prompts", action="store_true", help="list the prompts instead")
    kinds.add_argument("--resources", action="store_true", help="list the resources instead")
    connection.add_settings(parser, without={"redis", "redis_timeout", "limits_without_redis", *AUDIT_SETTINGS})


def run(options: argparse.Namespace) -> int:
    """List the tools, or show one."""
    if options.command:
        # The server is the command after `--`, so a word before it is the tool.
        options.server, options.tool = None, options.server
    return run_interruptible(_run(options))


async def _run(options: argparse.Namespace) -> int:
    async with connection.connect(options) as server:
        if options.prompts:
            _print_prompts(await server.list_prompts())
        elif options.resources:
            _print_resources(await server.list_resources())
        elif options.tool is None:
            _print_tools(await server.list_tools())
            if sys.stdout.isatty():
                _print_prompts(await server.list_prompts())
                _print_resources([r for r in await server.list_resources() if not _is_documentation(r)])
        else:
            tool = connection.require_tool(options, await server.list_tools())
            _print_tool(tool, await server.documentation(tool))
    return os.EX_OK


def _print_tools(tools: list[ListedTool]) -> None:
    if not sys.stdout.isatty():
        connection.print_json({"tools": [tool.to_wire() for tool in tools]})
        return
    table = _table("tool", "arguments", "what it does")
    for tool in tools:
        required = set(tool.input_schema.get("required", ()))
        names = [_argument(n, required=n in required) for n in tool.input_schema.get("properties", {})]
        table.add_row(f"[bold]{_escape(tool.name)}[/bold]", " ".join(names), _escape(_summary(tool)))
    TerminalConsole().print(table)


def _print_prompts(prompts: list[JsonObject]) -> None:
    if not sys.stdout.isatty():
        connection.print_json(prompts)
        return
    table = _table("prompt", "arguments", "what it gives")
    for prompt in prompts:
        names = [_argument(a["name"], required=bool(a.get("required"))) for a in prompt.get("arguments") or ()]
        summary = _first_sentence(prompt.get("description") or "") or prompt.get("title") or ""
        table.add_row(f"[bold]{_escape(prompt['name'])}[/bold]", " ".join(names), _escape(summary))
    if prompts:
        TerminalConsole().print("", table)


def _print_resources(resources: list[JsonObject]) -> None:
    if not sys.stdout.isatty():
        connection.print_json(resources)
        return
    table = _table("resource", "what it is")
    for resource in resources:
        uri = resource.get("uri") or resource["uriTemplate"]
        table.add_row(f"[bold]{_escape(uri)}[/bold]", _escape(resource.get("description") or resource["name"]))
    if resources:
        TerminalConsole().print("", table)


def _escape(text: str) -> str:
    """Text of a server as one line in a table, without meaning as markup."""
    return escape_markup(escape_invisible(text))


def _table(*headings: str) -> Table:
    return Table(*headings, box=None, padding=(0, 2, 0, 0))


def _argument(name: str, *, required: bool) -> str:
    return _escape(name) if required else f"[dim]{_escape(name)}[/dim]"


def _is_documentation(resource: JsonObject) -> bool:
    """Whether a resource is the documentation of a tool, which the line of the tool already leads to."""
    return str(resource.get("uri", "")).startswith(DOCS_SCHEME)


def _summary(tool: ListedTool) -> str:
    return _first_sentence(tool.description) or tool.title


def _first_sentence(text: str) -> str:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return lines[0].partition(". ")[0].rstrip(".") if lines else ""


def _print_tool(tool: ListedTool, documentation: str) -> None:
    if sys.stdout.isatty():
        # A link shows its address: its text may be another one.
        text = escape_lines(f"# {tool.name}\n\n{documentation}")
        TerminalConsole().print(Markdown(text, hyperlinks=False))
    else:
        connection.print_json(tool.to_wire() | {"documentation": documentation})
