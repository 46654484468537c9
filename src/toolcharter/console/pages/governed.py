"""Servers of other people under the charter: how they are, what waits for a decision, and the policy of each tool."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from starlette.responses import Response

from mcp_core.auth import Caller
from mcp_core.declare.spec import ToolSpec
from mcp_core.plurals import count
from toolcharter.console.catalogue import Entry
from toolcharter.console.markup import Html, element, join
from toolcharter.console.page import Page, View
from toolcharter.console.pieces import copyable, tag
from toolcharter.contract.report import needs, status

if TYPE_CHECKING:
    from toolcharter.govern.governor import Governor
    from toolcharter.govern.pins import Quarantine

_CONSENT = {"required": "the person confirms each call", "if_possible": "the person confirms it, if they can be asked"}


async def _show(view: View) -> Response:
    governor = view.console.governor
    if governor is None:
        return view.not_found("No servers of other people are governed here.")
    names = [name for name in governor.apps if view.viewer.app(name) is not None]
    return view.page(
        "Governed",
        element("h1", f"{count(len(names), 'governed server')}"),
        *(_server(view, governor, name) for name in names),
        scripts=["try.css", "copy.js"],
    )


def _server(view: View, governor: "Governor", name: str) -> Html:
    health, comparison = governor.upstreams[name].health(), governor.comparisons[name]
    state = tag(count(health.connections, "connection")) if health.is_ok else tag("not available", "bad")
    link = element("a", name, href=f"/console/tools?server={name}")
    parts: list[Html | None] = []
    if _decides(view.viewer.callers[name]):
        parts = [
            element("p", health.problem, class_="problem") if health.problem else None,
            _quarantined(name, governor.waiting(name)),
            element("p", f"No longer listed: {', '.join(sorted(comparison.missing))}.") if comparison.missing else None,
            element("p", f"Denied: {', '.join(denied)}.") if (denied := governor.denied(name)) else None,
        ]
    return element(
        "section",
        element("div", element("h2", link), state, class_="row title"),
        *parts,
        _policies(view, governor, name),
        class_="card",
    )


def _decides(caller: Caller) -> bool:
    """Whether the viewer may do everything, and so see what is kept from agents."""
    return not caller.denied and "*" in caller.grants


def _quarantined(name: str, tools: "Mapping[str, Quarantine]") -> Html | None:
    if not tools:
        return None
    rows = [
        element(
            "li",
            element("div", element("code", tool), " ", quarantine.reason),
            [
                element("div", tag(status(change)), f" {change.sentence} ", element("small", f"Needs {needs(change)}."))
                for change in quarantine.changes
            ],
            [element("div", tag(one.severity, "bad"), f" {one.message}") for one in quarantine.findings],
        )
        for tool, quarantine in tools.items()
    ]
    commands = (f"review {name}", f"approve {name} TOOL", f"deny {name}:TOOL")
    return join(
        element("h3", f"{count(len(tools), 'tool')} waiting for your decision"),
        element("ul", rows, class_="findings"),
        element("p", "Agents do not see these tools. Look at the changes, then approve or deny them:"),
        copyable("\n".join(f"toolcharter govern {words}" for words in commands)),
    )


def _policies(view: View, governor: "Governor", name: str) -> Html:
    app = governor.apps[name]
    entries = [entry for entry in view.offer(app).entries if entry.kind == "tool"]
    if not entries:
        return element("p", "No tool of it is served to you.", class_="note")
    head = element("tr", [element("th", title, scope="col") for title in ("Tool", "Policy")])
    specs = [app.registry.resolve(entry.name) for entry in entries]
    rows = [_policy(entry, spec, governor.narrowed(name, spec)) for entry, spec in zip(entries, specs, strict=True)]
    table = element("table", element("thead", head), element("tbody", rows), class_="arguments")
    return element("details", element("summary", f"The policy of {count(len(entries), 'tool')}"), table)


def _policy(entry: Entry, spec: ToolSpec, narrowed: Sequence[str]) -> Html:
    declared = spec.declaration
    limit = declared.rate_limit
    parts = [
        _CONSENT.get(declared.confirm or ""),
        f"needs {', '.join(spec.permissions)}" if spec.permissions else None,
        f"{count(limit.max_calls, 'call')} in {limit.window_ms / 1000:g} s" if limit else None,
        f"at most {declared.deadline:g} s" if declared.deadline else None,
        f"cached for {spec.cache_ttl:g} s" if spec.cache_ttl else None,
        f"narrowed: {', '.join(narrowed)}" if narrowed else None,
    ]
    words = "; ".join(part for part in parts if part) or "as the server has it"
    name = element("th", element("a", element("code", entry.name), href=entry.path), scope="row")
    marks = element("small", [tag(text, kind) for text, kind in entry.marks])
    return element("tr", name, element("td", words, " ", marks))


def _is_governed(view: View) -> bool:
    return view.console.governor is not None


PAGES = [Page("/console/governed", _show, "Governed", 30, is_shown=_is_governed)]
