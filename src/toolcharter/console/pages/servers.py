"""The first page: what is served here, and how to connect a client."""

import json
from collections import Counter

from starlette.responses import RedirectResponse, Response

from mcp_core.app import App
from mcp_core.text.plurals import count
from toolcharter.console.catalogue import Kind, first_line
from toolcharter.console.page import ConsolePage, View
from toolcharter.console.pieces import copyable, score_kind, tag
from toolcharter.output.markup import Html, element, join
from toolcharter.packaging.links import links_to
from toolcharter.serving.terminal import (
    address,
    claude_command,
    client_configuration,
    sample_call,
    sends_token,
    token_note,
    token_option,
)

KINDS: tuple[Kind, ...] = ("tool", "prompt", "resource")


async def _show(view: View) -> Response:
    apps = view.apps
    configuration = json.dumps(client_configuration(apps, view.console.site.base_url), indent=2)
    return view.page(
        "Servers",
        element("h1", count(len(apps), "MCP server")),
        element("div", [_card(view, app) for app in apps], class_="grid servers"),
        element("h2", "Client configuration"),
        element("p", "For clients that read ", element("code", "mcpServers"), ":"),
        copyable(configuration),
        scripts=["copy.js"],
    )


def _card(view: View, app: App) -> Html:
    return element(
        "section",
        element("h2", element("a", app.title, href=f"/console/servers/{app.name}"), " ", element("small", app.version)),
        element("p", first_line(app.instructions)) if app.instructions else None,
        element("p", element("code", address(app, view.console.site.base_url))),
        element("p", _contents(view, app), class_="note"),
        class_="card",
    )


def _contents(view: View, app: App) -> Html:
    kinds = Counter(entry.kind for entry in view.offer(app).entries)
    return join(
        *(
            join(
                ", " if at else "",
                element("a", count(kinds[kind], kind), href=f"/console/tools?server={app.name}&kind={kind}"),
            )
            for at, kind in enumerate(one for one in KINDS if kinds[one])
        )
    )


async def _show_one(view: View) -> Response:
    app = view.viewer.app(view.part("server"))
    if app is None:
        return view.not_found(f"No server {view.part('server')!r} is served here.")
    base = view.console.site.base_url
    call = (
        f"toolcharter call {token_option(app)}{address(app, base)} {sample_call(app, view.offer(app).tools.values())}"
    )
    note = token_note(app)
    return view.page(
        app.title,
        element("h1", app.title, " ", element("small", app.version)),
        element("p", app.instructions) if app.instructions else "",
        element("p", _contents(view, app)),
        element("p", await _score(view, app), class_="note"),
        element("h2", "Connect a client"),
        element("p", note) if note else "",
        _install_buttons(app, base),
        element("h3", "Address"),
        copyable(address(app, base)),
        element("h3", "Claude Code"),
        copyable(claude_command(app, base)),
        element("h3", "Clients that read ", element("code", "mcpServers")),
        copyable(json.dumps(client_configuration([app], base), indent=2)),
        element("h2", "Call it from a terminal"),
        copyable(call),
        scripts=["copy.js"],
    )


async def _score(view: View, app: App) -> Html | None:
    """The score of the server as a whole."""
    checks = await view.console.checks.of(app, view.offer(app).tools)
    if checks is None:
        return join("The checks are still running. ", element("a", "Load the page again", href=""), ".")
    if checks.score is None:
        return None
    findings = sum(len(one.findings) for one in checks.tools.values()) + len(checks.findings)
    cost = sum(entry.tokens or 0 for entry in view.offer(app).entries)
    found = count(findings, "finding") if findings else "no finding"
    words = f" The verifier has {found}. All tools together cost an agent about {cost:,} tokens in every request."
    return join(tag(f"score {checks.score}", score_kind(checks.score)), words)


def _install_buttons(app: App, base: str) -> Html:
    """Links that add the server to a client, where the client needs no token in its configuration."""
    if sends_token(app):
        return Html("")
    found = links_to(app.name, address(app, base))
    buttons = [
        element("a", label, href=link, class_="button quiet")
        for label, link in (("Add to VS Code", found.vscode), ("Add to Cursor", found.cursor))
    ]
    return element("p", buttons, class_="row")


async def _lead_to_first(_: View) -> Response:
    return RedirectResponse("/")


PAGES = [
    ConsolePage("/", _show, "Servers", 0, covers=("/console/servers/",)),
    ConsolePage("/console", _lead_to_first),
    ConsolePage("/console/servers/{server}", _show_one),
]
