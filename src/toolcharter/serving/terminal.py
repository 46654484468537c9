"""The text in the terminal that shows what is served, and the lines to copy."""

import json
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_core.app import App, ListedTool
from mcp_core.text.plurals import count

if TYPE_CHECKING:
    from mcp_core.auth.access_tokens import AccessTokens

PLACEHOLDER = "YOUR_TOKEN"
"""Stands for the token of a caller in commands to copy."""


def _issuer(app: App) -> "AccessTokens | None":
    """The issuer at which callers sign in, if their clients can do so by themselves."""
    return app.identity.access if app.identity is not None else None


def token_note(app: App) -> str | None:
    """The token that callers need, in words."""
    access = _issuer(app)
    if access is not None:
        return f"Clients sign in at {access.issuer}; for `toolcharter`, replace {PLACEHOLDER} with an access token."
    return f"Callers need a token: replace {PLACEHOLDER} with yours." if app.verifier else None


def address(app: App, base_url: str) -> str:
    """The URL of an app. Access tokens are issued for the public one."""
    access = _issuer(app)
    path = "" if app.has_all_tools else f"/{app.name}"
    return f"{access.public_url if access else base_url}{path}/mcp"


def sends_token(app: App) -> bool:
    """Whether a token must be written into the configuration of a client."""
    return app.verifier is not None and _issuer(app) is None


def to_connect(apps: Sequence[App]) -> Sequence[App]:
    """The apps that a client needs: all of them, or the one that has the tools of all."""
    return [app for app in apps if app.has_all_tools] or apps


def client_configuration(apps: Sequence[App], base_url: str) -> dict[str, Any]:
    """The configuration for clients, in the form that most of them read."""
    return {"mcpServers": {app.name: _client_entry(app, base_url) for app in to_connect(apps)}}


def _client_entry(app: App, base_url: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "http", "url": address(app, base_url)}
    return entry | {"headers": {"Authorization": f"Bearer {PLACEHOLDER}"}} if sends_token(app) else entry


def claude_command(app: App, base_url: str) -> str:
    """The command that adds an app to Claude Code."""
    header = f' --header "Authorization: Bearer {PLACEHOLDER}"' if sends_token(app) else ""
    return f"claude mcp add --transport http {app.name} {address(app, base_url)}{header}"


def _installed_as(app: App, base_url: str) -> str:
    token = f" --token {PLACEHOLDER}" if sends_token(app) else ""
    return f"{app.name} --http {address(app, base_url)}{token}"


def token_option(app: App) -> str:
    """The option of `toolcharter` for a token, where callers need one."""
    return f"--token {PLACEHOLDER} " if app.verifier else ""


def terminal_text(
    apps: Sequence[App], base_url: str, unix_socket: Path | None = None, *, has_console: bool = False
) -> str:
    """A text for the terminal: the servers, how to call them, and how to add them to a client."""
    if unix_socket is not None:
        return _unix_text(apps, unix_socket)
    where = f". Console: {base_url}/" if has_console else f" at {base_url}/"
    lines = [f"Serving {count(len(apps), 'MCP server')}{where}", ""]
    if len(apps) == 1:
        lines += _everything_in(apps[0], base_url)
    else:
        # The names of all tools would push the lines to copy off the screen.
        width = max(len(f"{app.title} {app.version}") for app in apps)
        longest = max(len(address(app, base_url)) for app in apps)
        lines += [
            f"  {f'{app.title} {app.version}':<{width}}   {address(app, base_url):<{longest}}   "
            f"{count(len(_listed_tools(app)), 'tool')}"
            for app in apps
        ]
    first, command = apps[0], _command()
    lines += [
        *(line for note in dict.fromkeys(filter(None, map(token_note, apps))) for line in ("", note)),
        "",
        "Call it from another terminal:",
        f"  {command} tools {token_option(first)}{address(first, base_url)}",
        f"  {command} call {token_option(first)}{address(first, base_url)} {sample_call(first, _listed_tools(first))}",
        "",
        "Add it to a client, such as claude-code, cursor or vscode:",
        *(f"  {command} install CLIENT {_installed_as(app, base_url)}" for app in to_connect(apps)),
        "",
        "Or write this into its file:",
        *(f"  {line}" for line in json.dumps(client_configuration(apps, base_url), indent=2).splitlines()),
        "",
        f"Health: {base_url}/health   Metrics: {base_url}/metrics   Stop: Ctrl+C",
    ]
    return "\n".join(lines)


def _unix_text(apps: Sequence[App], unix_socket: Path) -> str:
    """The text for a socket that only a proxy, or curl, connects to."""
    lines = [f"Serving {count(len(apps), 'MCP server')} on the unix socket {unix_socket}.", ""]
    lines += [f"  {app.title} {app.version}   /{app.name}/mcp" for app in apps]
    lines += ["", f"Health: curl --unix-socket {unix_socket} http://localhost/health   Stop: Ctrl+C"]
    return "\n".join(lines)


def _everything_in(app: App, base_url: str) -> list[str]:
    listed = [(tool.name, _first_line(app, tool)) for tool in _listed_tools(app)]
    listed += [(prompt.name, f"(prompt) {prompt.spec.doc.summary or prompt.title}") for prompt in app.library.prompts]
    listed += [(source.prefix, "(resources)") for source in app.library.sources]
    width = max((len(name) for name, _ in listed), default=0)
    lines = [f"  {app.title} {app.version}   {address(app, base_url)}"]
    return lines + [f"    {name:<{width}}  {text}" for name, text in listed]


def _listed_tools(app: App) -> list[ListedTool]:
    """Without tokens, the tools that every caller may use; with tokens, all of them."""
    return app.list_tools(app.local_caller if app.verifier is None else None)


def _command() -> str:
    """The command as a shell here finds it: by its path, where no virtual environment is activated."""
    script = Path(sys.executable).with_name("toolcharter")
    if shutil.which("toolcharter") or not script.exists():
        return "toolcharter"
    return str(script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script)


def _first_line(app: App, tool: ListedTool) -> str:
    return app.registry.resolve(tool.name).doc.summary or tool.title


def sample_call(app: App, tools: Iterable[ListedTool]) -> str:
    """A call of one of these tools that changes nothing, as `toolcharter call` takes it."""
    for tool in tools:
        spec = app.registry.resolve(tool.name)
        if spec.examples and spec.category == "query":
            arguments = [f"{key}={_shell_word(value)}" for key, value in spec.examples[0].params.items()]
            return " ".join([tool.name, *arguments])
    return "TOOL key=value"


def _shell_word(value: Any) -> str:
    return shlex.quote(value if isinstance(value, str) else json.dumps(value))
