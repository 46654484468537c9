"""Links that add a server to a client with one click, for web pages and for Markdown.

VS Code and Cursor register a scheme of their own. GitHub removes such links from Markdown, so that there the pages of
the two products pass them on. Sources: code.visualstudio.com/api/extension-guides/ai/mcp and
cursor.com/docs/mcp/install-links.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from toolcharter.packaging.launch import Launch


@dataclass(frozen=True, slots=True)
class InstallLinks:
    """The links of one server. Those for Markdown lead through a page of the product."""

    vscode: str
    cursor: str
    vscode_page: str
    cursor_page: str


def links(server: Launch, url: str | None = None) -> InstallLinks:
    """The links that add a server: started by the client with uvx, or one that runs at `url`."""
    if url is not None:
        return links_to(server.name, url)
    inputs = _inputs(server)
    vscode = {**_start(server, "${input:%s}"), **({"inputs": inputs} if inputs else {})}
    return _links(server.name, vscode, _start(server, "${env:%s}"))


def links_to(name: str, url: str) -> InstallLinks:
    """The links that add a server that runs at an address."""
    return _links(name, {"type": "http", "url": url}, {"url": url})


def _links(name: str, vscode: Mapping[str, Any], cursor: Mapping[str, Any]) -> InstallLinks:
    vscode_link = f"vscode:mcp/install?{quote(_compact({'name': name, **vscode}), safe='')}"
    query = urlencode({"name": name, "config": base64.b64encode(_compact(cursor).encode()).decode()})
    return InstallLinks(
        vscode=vscode_link,
        cursor=f"cursor://anysphere.cursor-deeplink/mcp/install?{query}",
        vscode_page=f"https://vscode.dev/redirect?url={quote(vscode_link, safe='')}",
        cursor_page=f"https://cursor.com/en/install-mcp?{query}",
    )


def badges(server: Launch) -> str:
    """The links as badges for a README."""
    found = links(server)
    shields = "https://img.shields.io/badge"
    return (
        f"[![Install in VS Code]({shields}/VS_Code-Install-0098FF?logo=visualstudiocode)]({found.vscode_page})\n"
        f"[![Install in Cursor]({shields}/Cursor-Install-000000?logo=cursor)]({found.cursor_page})\n"
    )


def _start(server: Launch, value: str) -> dict[str, Any]:
    """How a client starts the server. `value` is how the client writes what it asks its user for."""
    command, *words = server.uvx()
    variables = {one.variable: value % one.variable for one in server.settings if one.required}
    return {"command": command, "args": words, **({"env": variables} if variables else {})}


def _inputs(server: Launch) -> list[dict[str, Any]]:
    """The inputs that VS Code asks its user for, once."""
    return [
        {"type": "promptString", "id": one.variable, "description": one.description, "password": one.kind == "secret"}
        for one in server.settings
        if one.required
    ]


def _compact(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
