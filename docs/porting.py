"""Two parts of docs/porting.md, made with the three servers in examples/porting: their scores, and their answers."""

import asyncio
import io
import json
import logging
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from importlib import reload
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_core.hosts.sdk.server import build_server
from toolcharter import Settings
from toolcharter.cli import main

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "porting"
FILES = {"FastMCP": "on_fastmcp.py:mcp", "MCPServer": "on_mcpserver.py:mcp", "toolcharter": "on_toolcharter.py"}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "A success": ("list_books", {"contains": "mm"}),
    "An empty list": ("list_books", {"contains": "Ulysses"}),
    "A number as text": ("list_books", {"limit": "1"}),
    "A misspelled argument": ("list_books", {"contain": "mm"}),
    "A deletion without consent": ("remove_book", {"book_id": "book_1"}),
    "A tool that does not exist": ("delete_book", {"book_id": "book_1"}),
}
WIDTH = 118


@contextmanager
def _logging_restored() -> Iterator[None]:
    """MCPServer sets up logging for the whole process, and all three log the calls that they refuse."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        root.handlers[:] = handlers
        root.setLevel(level)


def scores() -> str:
    """What `toolcharter verify` says of each server, as Markdown."""
    lines = ["| on | score | warnings | notes |", "|---|---:|---:|---:|"]
    with _logging_restored():
        for library, file in FILES.items():
            with redirect_stdout(io.StringIO()) as out, suppress(SystemExit):
                main(["verify", str(FOLDER / file), "--format", "json"])
            report = json.loads(out.getvalue())
            counts = report["counts"]
            lines.append(f"| {library} | {report['score']} of 100 | {counts['warning']} | {counts['note']} |")
    return "\n".join(lines)


def answers() -> str:
    """What the servers answer to the same calls, as Markdown."""
    with _logging_restored():
        found = asyncio.run(_answers())
    lines: list[str] = []
    for title, (tool, arguments) in CALLS.items():
        lines += [f"{title}: `{tool} {json.dumps(arguments)}`", "", "```text"]
        for library, words in found[title].items():
            head = f"{library:<11}  "
            lines += textwrap.wrap(head + words, WIDTH, subsequent_indent=" " * len(head), max_lines=2)
        lines += ["```", ""]
    return "\n".join(lines).strip()


async def _answers() -> dict[str, dict[str, str]]:
    # Not imported before logging can be restored.
    from toolcharter_examples.porting import on_fastmcp, on_mcpserver, on_toolcharter  # noqa: PLC0415 - see above

    servers = {  # reloaded, because a call may have changed their data
        "FastMCP": reload(on_fastmcp).mcp._mcp_server,  # noqa: SLF001 - as FastMCP's own client in memory does
        "MCPServer": reload(on_mcpserver).mcp,
        "toolcharter": build_server(on_toolcharter.build(Settings())),
    }
    found: dict[str, dict[str, str]] = {title: {} for title in CALLS}
    for library, server in servers.items():
        async with Client(server) as client:
            for title, (tool, arguments) in CALLS.items():
                found[title][library] = await _answer(client, tool, arguments)
    return found


async def _answer(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return f"protocol error {error.error.code}: {error.error.message}"
    text = " ".join(" ".join(getattr(block, "text", "") for block in result.content).split()) or "no content"
    if result.is_error:
        return f"error: {text}"
    structured = result.structured_content
    return text if structured is None else f"{text} and structuredContent {json.dumps(structured)}"


if __name__ == "__main__":
    print(scores(), answers(), sep="\n\n")
