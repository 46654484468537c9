"""Servers of other people under the charter: how they are, what waits for a decision, and the policy of each tool."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from starlette.responses import Response

from mcp_core.auth import Caller
from mcp_core.declare.spec import ToolSpec
from mcp_core.text.plurals import count
from toolcharter.console.catalogue import CatalogueEntry
from toolcharter.console.page import ConsolePage, View
from toolcharter.console.pieces import copyable, tag
from toolcharter.contract.report import status
from toolcharter.output.markup import Html, element, join

if TYPE_CHECKING:
    from mcp_core.app import ListedTool
    from toolcharter.govern.governor import Governor
    from toolcharter.govern.pins import Quarantine
    from toolcharter.govern.upstream.upstream import UpstreamHealth

_KINDS = {"breaking": "bad", "behavioural": "warn", "additive": "good"}


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
    link = element("a", name, href=f"/console/tools?server={name}")
    parts: list[Html | None] = []
    if _decides(view.viewer.callers[name]):
        parts = [
            element("p", health.problem, class_="problem") if health.problem else None,
            _quarantined(governor, name, governor.waiting(name)),
            element("p", f"No longer listed: {', '.join(sorted(comparison.missing))}.") if comparison.missing else None,
            element("p", f"Denied: {', '.join(denied)}.") if (denied := governor.denied(name)) else None,
        ]
    return element(
        "section",
        element("div", element("h2", link), _state(health), class_="row title"),
        *parts,
        _policies(view, governor, name),
        class_="card",
    )


def _state(health: "UpstreamHealth") -> Html:
    """Whether the server runs. It is started by the first call, and stopped when it is not used."""
    if not health.is_ok:
        return tag("not available", "bad")
    return tag(count(health.connections, "connection"), "good") if health.connections else tag("starts when called")


def _decides(caller: Caller) -> bool:
    """Whether the viewer may do everything, and so see what is kept from agents."""
    return not caller.denied and "*" in caller.grants


def _quarantined(governor: "Governor", name: str, tools: "Mapping[str, Quarantine]") -> Html | None:
    if not tools:
        return None
    review = f"toolcharter govern review {_charter_option(governor)} {name}"
    one_waits = len(tools) == 1
    return join(
        element("h3", f"{count(len(tools), 'tool')} {'waits' if one_waits else 'wait'} for your decision"),
        element("p", f"Agents do not see {'it' if one_waits else 'them'} until you approve.", class_="note"),
        element("ul", [_waiting(governor, name, tool, why) for tool, why in tools.items()], class_="findings"),
        element("details", element("summary", "Review all of them in a terminal"), copyable(review)),
    )


def _waiting(governor: "Governor", name: str, tool: str, why: "Quarantine") -> Html:
    """A quarantined tool: why, what changed in it, and the commands that decide."""
    option = _charter_option(governor)
    commands = [
        f"toolcharter govern approve {option} {name} {shlex.quote(tool)}",
        f"toolcharter govern deny {option} {shlex.quote(f'{name}:{tool}')}",
    ]
    changes = [
        element("div", tag(status(one), _KINDS.get(status(one), "")), " ", _words(one.sentence)) for one in why.changes
    ]
    findings = [element("div", tag(one.rule, "bad"), f" {one.name}: {one.message}") for one in why.findings]
    return element(
        "li",
        element("div", element("code", tool, class_="name"), ": ", why.reason),
        _new_definition(why.added) if why.added is not None else None,
        changes,
        findings,
        element("details", element("summary", "Approve or deny it"), *map(copyable, commands)),
    )


def _new_definition(tool: "ListedTool") -> Html:
    """The definition of a new tool, as an agent would see it."""
    whole = json.dumps(tool.for_model(), ensure_ascii=False, indent=2)
    return join(
        element("div", tool.description, class_="note"),
        element("details", element("summary", "Its definition"), copyable(whole)),
    )


def _charter_option(governor: "Governor") -> str:
    return f"--charter {shlex.quote(str(governor.path))}"


def _words(sentence: str) -> Html:
    """The sentence about a change, with the words that were removed and added as such."""
    marked = {"[-": "del", "{+": "ins"}
    parts = re.split(r"(\[-(?:(?!\[-).)*?-\]|\{\+(?:(?!\{\+).)*?\+\})", sentence, flags=re.DOTALL)
    return join(*(element(marked[part[:2]], part[2:-2]) if at % 2 else part for at, part in enumerate(parts)))


def _policies(view: View, governor: "Governor", name: str) -> Html:
    app = governor.apps[name]
    entries = [entry for entry in view.offer(app).entries if entry.kind == "tool"]
    if not entries:
        return element("p", "No tool of this server is approved, or none is for you.", class_="note")
    head = element("tr", [element("th", title, scope="col") for title in ("Tool", "Policy")])
    specs = [app.registry.resolve(entry.name) for entry in entries]
    rows = [_policy(entry, spec, governor.narrowed(name, spec)) for entry, spec in zip(entries, specs, strict=True)]
    table = element("table", element("thead", head), element("tbody", rows), class_="arguments")
    return element("details", element("summary", f"The policy of {count(len(entries), 'tool')}"), table)


def _confirmation(spec: ToolSpec) -> str | None:
    confirm = spec.declaration.confirm
    if confirm is None:
        return None
    return "the person confirms each call" if confirm.required else "the person confirms it, if they can be asked"


def _policy(entry: CatalogueEntry, spec: ToolSpec, narrowed: Sequence[str]) -> Html:
    declared = spec.declaration
    limit = declared.rate_limit
    parts = [
        _confirmation(spec),
        f"needs {', '.join(spec.permissions)}" if spec.permissions else None,
        f"{count(limit.max_calls, 'call')} in {limit.window_ms / 1000:g} s" if limit else None,
        f"at most {spec.deadline:g} s" if spec.deadline else None,
        f"cached for {spec.cache_ttl:g} s" if spec.cache_ttl else None,
        f"narrowed: {', '.join(narrowed)}" if narrowed else None,
    ]
    words = "; ".join(part for part in parts if part) or "none of its own"
    name = element("th", element("a", element("code", entry.name), href=entry.path), scope="row")
    marks = element("small", [tag(text, kind) for text, kind in entry.marks])
    return element("tr", name, element("td", words, " ", marks))


def _is_governed(view: View) -> bool:
    return view.console.governor is not None


PAGES = [ConsolePage("/console/governed", _show, "Governed", 30, is_shown=_is_governed)]
