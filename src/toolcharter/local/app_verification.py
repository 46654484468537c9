"""Verifies an App of this process, with all its declarations. The verifier itself knows only lists of tools."""

from collections.abc import Sequence
from pathlib import Path

from mcp_core.app import App
from mcp_core.declare.listed import ListedTool
from mcp_core.hosts import library_json
from toolcharter.verify import config
from toolcharter.verify.model import OtherText, Server, Tool
from toolcharter.verify.other_texts import other_texts
from toolcharter.verify.result import VerifyResult, verify_server
from toolcharter.verify.rules import static_rules
from toolcharter.verify.selection import parse_selection


def server_from_app(
    app: App, tools: Sequence[ListedTool] | None = None, name: str = "", others: Sequence[OtherText] = ()
) -> Server:
    """The server that rules check, with its declarations. `tools` are those to check; default: all that it lists."""
    specs = {final: app.registry.resolve(final) for final in app.registry.final_names().values()}
    listed = app.list_tools() if tools is None else tools
    wrapped = [Tool(tool, specs.get(tool.name)) for tool in listed]
    return Server(wrapped, name or app.name, app.registry.naming, others)


def verify_app(app: App, folder: Path, target: str) -> VerifyResult:
    """Verify one of our servers with the configuration in a folder's pyproject.toml. Raises InvalidConfig."""
    known = static_rules()
    file = folder / config.DEFAULT_FILE
    found = config.read(file, {app.name, target}, known) if file.is_file() else config.Config()
    selection = parse_selection(found.select, found.ignore, known)
    texts = {"instructions": app.instructions, **library_json.fixed_lists(app.library)}
    return verify_server(server_from_app(app, others=other_texts(texts)), known, selection)
