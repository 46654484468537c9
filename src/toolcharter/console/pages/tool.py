"""One tool: what it does, what it takes, what it costs, what was found in it, and a form to try it."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from mcp_core.app import App, ListedTool
from mcp_core.declare.describe import introduction
from mcp_core.declare.spec import ToolSpec
from mcp_core.schema.references import expand
from mcp_core.text.plurals import count
from toolcharter.console import markdown, schema_table, try_it
from toolcharter.console.catalogue import marks
from toolcharter.console.checks import ServerChecks, ToolChecks
from toolcharter.console.page import ConsolePage, View
from toolcharter.console.pieces import breadcrumb, copyable, score_kind, tag
from toolcharter.console.try_it import to_json
from toolcharter.output.markup import Html, element, join
from toolcharter.verify.model import Tool


async def _show(view: View) -> Response:
    server, name = view.part("server"), view.part("name")
    app = view.viewer.app(server)
    tool = view.offer(app).tools.get(name) if app else None
    if app is None or tool is None:
        return view.not_found(f"The server {server!r} has no tool {name!r} that you may use.")
    spec = app.registry.resolve(name)
    checks = await view.console.checks.of(app, view.offer(app).tools, name)
    schema = expand(tool.input_schema)
    form = try_it.section(
        view,
        app,
        "tools/call",
        name,
        schema,
        examples=[(one.description, one.params) for one in spec.examples],
        destructive=tool.annotations.get("destructiveHint") is True,
    )
    return view.page(
        f"{name} · {app.title}",
        _head(app, tool, spec),
        element("div", _documentation(tool, spec, schema, checks), form, class_="tool"),
        scripts=try_it.FILES,
    )


def _head(app: App, tool: ListedTool, spec: ToolSpec) -> Html:
    marked = [tag(text, kind) for text, kind in marks(tool, spec)]
    is_other = tool.title.lower() != tool.name.lower().replace("-", " ").replace("_", " ")
    title = element("p", tool.title, class_="lead") if tool.title and is_other else None
    to_form = element("a", "Try it", href="#try", class_="button to-try")
    heading = element("div", element("h1", element("code", tool.name)), marked, to_form, class_="row title")
    return join(breadcrumb(app), heading, title)


def _documentation(tool: ListedTool, spec: ToolSpec, schema: Mapping[str, Any], checks: ServerChecks | None) -> Html:
    text = tool.description if spec.listed else introduction(spec)
    return element(
        "div",
        element("div", markdown.render(text), class_="prose"),
        element("h2", "Arguments"),
        schema_table.table(schema),
        _examples(spec),
        element("h2", "Facts"),
        _facts(tool, spec),
        element("h2", "Checks"),
        _checks(tool, checks),
        _as_listed(tool),
        class_="documentation",
    )


def _examples(spec: ToolSpec) -> Html | None:
    if not spec.examples:
        return None
    shown = [
        element(
            "div",
            element("p", one.description),
            copyable(to_json(dict(one.params))),
            element("details", element("summary", "Answer"), copyable(to_json(one.expected_result, 2))),
            class_="example",
        )
        for one in spec.examples
    ]
    return join(element("h2", "Examples"), *shown)


def _facts(tool: ListedTool, spec: ToolSpec) -> Html:
    declared = spec.declaration
    facts: list[tuple[str, str | Html | None]] = [
        ("Cost", f"about {count(Tool(tool).tokens, 'token')} in every request of an agent"),
        ("Version", declared.version if spec.governed else None),
        ("Permissions", ", ".join(spec.permissions) or "none needed"),
        ("Response time", f"{spec.response_time}{f', at most {spec.deadline:g} s' if spec.deadline else ''}"),
        ("Cached", f"for {spec.cache_ttl:g} s" if spec.cache_ttl else None),
        ("Rate limit", _limit(spec)),
        ("Consent", f"explicit_action must be {spec.consent!r}" if spec.consent else None),
        ("Confirmation", _confirmation(spec)),
        ("Repeated", "the same as once" if spec.idempotent else None),
        ("Deprecated", declared.deprecated.sentence() if declared.deprecated else None),
        ("Tags", join(*(join(tag(one), " ") for one in spec.tags)) if spec.tags else None),
    ]
    pairs = [join(element("dt", name), element("dd", value)) for name, value in facts if value]
    return element("dl", pairs, class_="facts")


def _limit(spec: ToolSpec) -> str | None:
    limit = spec.declaration.rate_limit
    return None if limit is None else f"{count(limit.max_calls, 'call')} in {limit.window_ms / 1000:g} s"


def _confirmation(spec: ToolSpec) -> str | None:
    confirm = spec.declaration.confirm
    if confirm is None or not confirm.asks_person:
        return None
    return "required" if confirm.required else "asked for, if the person can be asked"


def _checks(tool: ListedTool, checks: ServerChecks | None) -> Html:
    if checks is None:
        return element("p", "The checks are still running. ", element("a", "Load the page again", href=""), ".")
    found = checks.tools.get(tool.name)
    if found is None:
        return element("p", "This tool was not checked.")
    return join(
        element("p", tag(f"score {found.score}", score_kind(found.score)), " ", _lock(found)),
        element("ul", [_finding(one) for one in found.findings], class_="findings") if found.findings else None,
        None if found.findings else element("p", "The verifier finds nothing to improve.", class_="note"),
    )


def _lock(found: ToolChecks) -> Html | None:
    if found.lock is None:
        return None
    kind = "good" if found.lock == "as locked" else "warn"
    return join(tag(found.lock, kind), " ", element("small", found.lock_file or ""))


def _finding(finding: Any) -> Html:
    kind = {"error": "bad", "warning": "warn"}.get(finding.severity, "")
    where = element("code", finding.path) if finding.path else None
    return element(
        "li",
        element("div", tag(finding.severity, kind), " ", element("b", finding.name), " ", where),
        element("div", finding.message),
        element("div", finding.fix, class_="note"),
    )


def _as_listed(tool: ListedTool) -> Html:
    return element(
        "details",
        element("summary", "What an agent is shown"),
        copyable(to_json(tool.for_model(), 2)),
        class_="listed",
    )


PAGES = [ConsolePage("/console/tools/{server}/{name}", _show)]
