"""The generated parts of docs/install.md: what `toolcharter install` writes, from the same code."""

from dataclasses import replace
from pathlib import Path

from toolcharter.clients.entry import ServerEntry
from toolcharter.clients.files import ClientFile
from toolcharter.clients.known import CLIENTS, KnownClient, Places
from toolcharter.local import targets
from toolcharter.packaging.launch import launch_of

LINUX = Places(Path("~"), Path("~/.config"), Path())
MACOS = Places(Path("~"), Path("~/Library/Application Support"), Path())
WINDOWS = Places(Path("%USERPROFILE%"), Path("%APPDATA%"), Path(), windows=True)
EXAMPLE = ServerEntry("todo", ("/home/ana/.local/bin/mcp-todo", "--user", "ana"), description="A todo list.")
ADDRESS = replace(EXAMPLE, command=(), url="http://127.0.0.1:8000/todo/mcp", token="TOKEN")  # noqa: S106 - an example


def servers() -> str:
    """The servers, the extra that brings each, and how it is run without an installation."""
    lines = ["| server | what it is | install | run without installing |", "|---|---|---|---|"]
    for name in targets.installed():
        launch = launch_of(name)
        # In a clone: toolcharter is in no package index.
        uvx = f"uvx --from '.[{launch.extra}]' {launch.script}"
        lines.append(f"| `{launch.script}` | {launch.description} | `{launch.requirement()}` | `{uvx}` |")
    return "\n".join(lines)


def files() -> str:
    """Where each client keeps its servers."""
    lines = ["| client | name here | Linux | macOS | Windows | project |", "|---|---|---|---|---|---|"]
    for client in CLIENTS:
        linux, macos = client.path(LINUX), client.path(MACOS)
        windows = str(client.path(WINDOWS)).replace("/", "\\")
        same = "the same" if linux == macos else f"`{macos}`"
        project = f"`{client.project_file}`" if client.project_file else ""
        lines.append(f"| {client.title} | `{client.name}` | `{linux}` | {same} | `{windows}` | {project} |")
    return "\n".join(lines)


def blocks() -> str:
    """What is written for each client."""
    return "\n\n".join(_blocks(client) for client in CLIENTS)


def _blocks(client: KnownClient) -> str:
    file = ClientFile(client, client.file(LINUX))
    started = f"### {client.title}\n\n```{client.format}\n{file.show([EXAMPLE])}\n```"
    if not client.takes_addresses:
        return f"{started}\n\nIt reaches addresses only as connectors, which are added in its own settings."
    return f"{started}\n\nFor one that runs:\n\n```{client.format}\n{file.show([ADDRESS])}\n```"
