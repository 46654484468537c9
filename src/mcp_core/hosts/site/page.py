"""The page in the browser and the text in the terminal that show what is served."""

import html
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

from mcp_core.app import App, ListedTool
from mcp_core.declare.prompts import Prompt
from mcp_core.declare.resources import ResourceSource
from mcp_core.plurals import count

if TYPE_CHECKING:
    from mcp_core.auth.access_tokens import AccessTokens

_STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--accent:#2563eb}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}
h3{font-size:1rem;margin:1rem 0 .3rem}
code,pre{font:14px/1.45 ui-monospace,monospace}
pre{background:var(--soft);padding:.8rem;border-radius:6px;overflow:auto}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.5rem .8rem}
details h2{font-size:1rem;margin:1rem 0 .3rem;border:0}
summary{cursor:pointer}summary code{font-weight:600}
.tag{font-size:.75rem;border:1px solid var(--line);border-radius:1rem;padding:0 .5rem;margin-left:.3rem}
.warn{color:#b45309;border-color:#b45309}a{color:var(--accent)}
"""


PLACEHOLDER = "YOUR_TOKEN"
"""Stands for the token of a caller in commands to copy."""


def _issuer(app: App) -> "AccessTokens | None":
    """Where callers sign in, if their clients can do so by themselves."""
    return app.identity.access if app.identity is not None else None


def _token_note(app: App) -> str | None:
    """What callers need, in words."""
    access = _issuer(app)
    if access is not None:
        return f"Clients sign in at {access.issuer}; for `toolcharter`, replace {PLACEHOLDER} with an access token."
    return f"Callers need a token: replace {PLACEHOLDER} with yours." if app.verifier else None


def address(app: App, base_url: str) -> str:
    """The URL of an app. Access tokens are issued for the public one."""
    access = _issuer(app)
    return f"{access.public_url if access else base_url}/{app.name}/mcp"


def _sends_token(app: App) -> bool:
    """Whether a token must be written into the configuration of a client."""
    return app.verifier is not None and _issuer(app) is None


def client_configuration(apps: Sequence[App], base_url: str) -> dict[str, Any]:
    """The configuration for clients, in the form that most of them read."""
    return {"mcpServers": {app.name: _client_entry(app, base_url) for app in apps}}


def _client_entry(app: App, base_url: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "http", "url": address(app, base_url)}
    return entry | {"headers": {"Authorization": f"Bearer {PLACEHOLDER}"}} if _sends_token(app) else entry


def _claude_command(app: App, base_url: str) -> str:
    header = f' --header "Authorization: Bearer {PLACEHOLDER}"' if _sends_token(app) else ""
    return f"claude mcp add --transport http {app.name} {address(app, base_url)}{header}"


def _token_option(app: App) -> str:
    return f"--token {PLACEHOLDER} " if app.verifier else ""


def terminal_text(apps: Sequence[App], base_url: str, unix_socket: Path | None = None) -> str:
    """What is served, how to call it, and how to add it to a client."""
    if unix_socket is not None:
        return _unix_text(apps, unix_socket)
    lines = [f"Serving {count(len(apps), 'MCP server')}. Documentation: {base_url}/", ""]
    if len(apps) == 1:
        lines += _everything_in(apps[0], base_url)
    else:
        # The names of all tools would push the lines to copy off the screen.
        width = max(len(f"{app.title} {app.version}") for app in apps)
        lines += [
            f"  {f'{app.title} {app.version}':<{width}}   {address(app, base_url)}   "
            f"{count(len(_listed_tools(app)), 'tool')}"
            for app in apps
        ]
    first, command = apps[0], _command()
    lines += [
        *(line for note in dict.fromkeys(filter(None, map(_token_note, apps))) for line in ("", note)),
        "",
        "Call it from another terminal:",
        f"  {command} tools {_token_option(first)}{address(first, base_url)}",
        f"  {command} call {_token_option(first)}{address(first, base_url)} {_sample_call(first)}",
        "",
        "Add it to a client:",
        *(f"  {line}" for line in json.dumps(client_configuration(apps, base_url), indent=2).splitlines()),
        *(f"  {_claude_command(app, base_url)}" for app in apps),
        "",
        f"Health: {base_url}/health   Metrics: {base_url}/metrics   Stop: Ctrl+C",
    ]
    return "\n".join(lines)


def _unix_text(apps: Sequence[App], unix_socket: Path) -> str:
    """What is served on a socket that only a proxy, or curl, connects to."""
    lines = [f"Serving {count(len(apps), 'MCP server')} on the unix socket {unix_socket}.", ""]
    lines += [f"  {app.title} {app.version}   /{app.name}/mcp" for app in apps]
    lines += ["", f"Health: curl --unix-socket {unix_socket} http://localhost/health   Stop: Ctrl+C"]
    return "\n".join(lines)


def _everything_in(app: App, base_url: str) -> list[str]:
    lines = [f"  {app.title} {app.version}   {address(app, base_url)}"]
    lines += [f"    {tool.name:<20} {_first_line(app, tool)}" for tool in _listed_tools(app)]
    lines += [f"    {p.name:<20} (prompt) {p.spec.doc.summary or p.title}" for p in app.library.prompts]
    return lines + [f"    {source.prefix:<20} (resources)" for source in app.library.sources]


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


def _sample_call(app: App) -> str:
    for tool in _listed_tools(app):
        spec = app.registry.resolve(tool.name)
        if spec.examples and spec.category == "query":
            arguments = [f"{key}={_shell_word(value)}" for key, value in spec.examples[0].params.items()]
            return " ".join([tool.name, *arguments])
    return "TOOL key=value"


def _shell_word(value: Any) -> str:
    if isinstance(value, str) and " " not in value:
        return value
    return f"'{json.dumps(value)}'" if isinstance(value, str | list | dict) else json.dumps(value)


def render_page(apps: Sequence[App], base_url: str) -> str:
    """The page. It loads nothing from other servers."""
    configuration = html.escape(json.dumps(client_configuration(apps, base_url), indent=2))
    servers = "".join(_server(app, base_url) for app in apps)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>toolcharter</title><style>{_STYLE}</style></head><body><h1>MCP servers here</h1>"
        f'<p><a href="/health">health</a> · <a href="/metrics">metrics</a></p>{servers}'
        f"<h2>Client configuration</h2><p>For clients that read <code>mcpServers</code>:</p><pre>{configuration}</pre>"
        "</body></html>"
    )


def _server(app: App, base_url: str) -> str:
    url = html.escape(address(app, base_url))
    name = html.escape(app.name)
    about = f"<p>{html.escape(app.instructions)}</p>" if app.instructions else ""
    tools = "".join(_tool(app, tool) for tool in _listed_tools(app))
    words = _token_note(app)
    note = f"<p>{html.escape(words)}</p>" if words else ""
    call = f"toolcharter call {_token_option(app)}{address(app, base_url)} {_sample_call(app)}"
    commands = html.escape(f"{_claude_command(app, base_url)}\n{call}")
    return (
        f'<h2 id="{name}">{html.escape(app.title)} <small>{html.escape(app.version)}</small></h2>'
        f"{about}<pre>{url}</pre>{note}<pre>{commands}</pre>{tools}{''.join(map(_prompt, app.library.prompts))}"
        f"{''.join(map(_source, app.library.sources))}"
    )


def _prompt(prompt: Prompt) -> str:
    arguments = "".join(
        f"<li><code>{html.escape(a.name)}</code>{'' if a.required else ' (optional)'} "
        f"{html.escape(a.description or '')}</li>"
        for a in prompt.arguments
    )
    return (
        f'<details><summary><code>{html.escape(prompt.name)}</code><span class="tag">prompt</span> '
        f"{html.escape(prompt.spec.doc.summary)}</summary>"
        f"{MarkdownIt('js-default').render(prompt.description)}<ul>{arguments}</ul></details>"
    )


def _source(source: ResourceSource) -> str:
    resources = [(r.uri, r.description or r.name) for r in source.fixed]
    resources += [(t.uri_template, t.description or t.name) for t in source.templates]
    listed = "".join(f"<li><code>{html.escape(uri)}</code> {html.escape(text)}</li>" for uri, text in resources)
    return (
        f'<details><summary><code>{html.escape(source.prefix)}</code><span class="tag">resources</span></summary>'
        f"<ul>{listed}</ul></details>"
    )


def _tool(app: App, tool: ListedTool) -> str:
    spec = app.registry.resolve(tool.name)
    marks = [("", spec.category)]
    if tool.annotations.get("destructiveHint"):
        marks.append((" warn", "destructive"))
    if spec.declaration.deprecated:
        marks.append((" warn", "deprecated"))
    tags = "".join(f'<span class="tag{kind}">{html.escape(text)}</span>' for kind, text in marks)
    documentation = MarkdownIt("js-default").render(app.documentation(tool.name))
    return (
        f'<details id="{html.escape(app.name)}-{html.escape(tool.name)}"><summary><code>{html.escape(tool.name)}</code>'
        f"{tags} {html.escape(spec.doc.summary)}</summary>{documentation}</details>"
    )
