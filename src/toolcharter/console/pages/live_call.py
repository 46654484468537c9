"""One call in full: where its time went, its arguments, its error with the lines of the log."""

import json
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from starlette.responses import Response

from mcp_core.mcp_log import REDACTED
from toolcharter.call_log import CallEntry, CallFilter
from toolcharter.console.page import ConsolePage, View
from toolcharter.console.pages.live import OUTCOMES, PATH
from toolcharter.console.pieces import copyable, tag
from toolcharter.console.rights import visible_calls
from toolcharter.output.markup import Html, element, join

_KINDS = {"ok": "good", "validation": "warn", "business": "warn", "system": "bad"}
_STEPS = {
    "gates": "Limits, arguments and permissions",
    "confirmation": "Waiting for a person",
    "handler": "The tool itself",
    "answer": "Checking and writing the answer",
}
"""The words for each part of a call."""
_GONE = "This call does not exist, or is no longer kept."


async def _show(view: View) -> Response:
    log, number = view.console.site.call_log, view.part("number")
    entry = await log.store.get(view.number("number", number) or 0) if log is not None else None
    visible = visible_calls(view.viewer)
    if entry is None or not CallFilter(visible).allows(entry):
        return view.not_found(_GONE)
    return view.page(
        entry.tool,
        element("p", element("a", "All calls", href=PATH)),
        element("h1", element("code", entry.tool), " ", _outcome(entry)),
        _facts(entry),
        _steps(entry),
        _arguments(view, entry),
        # A stack says how the server works inside. A caller who sees only their own calls gets the id of the error.
        _lines(entry) if (entry.server, None) in visible else "",
        scripts=["copy.js", "live.css"],
    )


def _outcome(entry: CallEntry) -> Html:
    return tag(OUTCOMES.get(entry.outcome, entry.outcome), _KINDS.get(entry.outcome, ""))


def _facts(entry: CallEntry) -> Html:
    when = datetime.fromtimestamp(entry.time, UTC)
    shown = f"{when:%Y-%m-%d %H:%M:%S}.{when.microsecond // 1000:03} UTC"
    related = [
        element("a", element("code", one), href=f"{PATH}?{urlencode({'q': one})}")
        for one in (entry.trace_id, entry.correlation_id)
    ]
    facts: list[tuple[str, str | None]] = [
        ("Ended", element("time", shown, datetime=when.isoformat(timespec="milliseconds"))),
        ("Server", entry.server),
        ("Version of the tool", entry.details.get("version")),
        ("Caller", entry.caller),
        ("Agent", entry.agent),
        ("Duration", f"{entry.ms:,.3f} ms"),
        ("Answer", f"about {entry.tokens:,} tokens"),
        ("From the cache", "yes" if entry.cached else "no"),
        ("Answered before", "yes, with the same idempotency key" if entry.details.get("repeated") else None),
        ("Answer to the confirmation", _answered(entry)),
        ("Error", element("span", f"{entry.error_type}: {entry.error}", class_="bad") if entry.error else None),
        ("Error id", element("code", entry.error_id) if entry.error_id else None),
        ("Trace id", related[0]),
        ("Correlation id", related[1]),
    ]
    return element(
        "dl", [join(element("dt", name), element("dd", text)) for name, text in facts if text], class_="facts"
    )


def _answered(entry: CallEntry) -> str | None:
    by = entry.details.get("answeredBy")
    return None if by is None else f"given in the console by {by}"


def _steps(entry: CallEntry) -> Html:
    """The time of each step, as a bar and as a table."""
    steps: dict[str, float] = entry.details.get("steps", {})
    total, left = sum(steps.values()) or 1.0, 0.0
    bars: list[Html] = []
    for name, ms in steps.items():
        bars.append(
            element("rect", x=f"{left:.2f}", y=0, width=f"{ms / total * 100:.2f}", height=4, class_=f"step-{name}")
        )
        left += ms / total * 100
    rows = [
        element(
            "tr",
            element("td", element("span", class_=f"swatch step-{name}", aria_hidden="true"), _STEPS.get(name, name)),
            element("td", f"{ms:,.3f} ms", class_="number"),
            element("td", f"{ms / total:.0%}", class_="number"),
        )
        for name, ms in steps.items()
    ]
    return join(
        element("h2", "Where the time went"),
        element("svg", bars, viewBox="0 0 100 4", preserveAspectRatio="none", class_="steps", aria_hidden="true"),
        element("table", element("tbody", rows), class_="steps-table"),
    )


def _arguments(view: View, entry: CallEntry) -> Html:
    head = element("h2", "Arguments")
    if "arguments" not in entry.details:
        return join(head, element("p", "They were too long to be kept.", class_="note"))
    arguments = entry.details["arguments"]
    if arguments is None:
        return join(head, element("p", "None were sent, or the call ended before they were read.", class_="note"))
    app = view.viewer.app(entry.server)
    text = json.dumps(arguments, indent=2, ensure_ascii=False)
    can_call = isinstance(arguments, dict) and app is not None and entry.tool in view.offer(app).tools
    return join(
        head,
        copyable(text),
        element("p", "Secret values are not kept.", class_="note") if REDACTED in text else None,
        element("p", element("a", "Try it again", href=replay_address(entry), class_="button")) if can_call else None,
    )


def replay_address(entry: CallEntry) -> str:
    """The form of the tool, filled with these arguments, without those that were not kept."""
    kept = {name: value for name, value in entry.details["arguments"].items() if value != REDACTED}
    arguments = quote(json.dumps(kept, ensure_ascii=False), safe="")
    return f"/console/tools/{quote(entry.server, safe='')}/{quote(entry.tool, safe='')}#arguments={arguments}"


def _lines(entry: CallEntry) -> Html | str:
    lines = entry.details.get("lines")
    return join(element("h2", "In the log"), copyable("\n".join(lines))) if lines else ""


PAGES = [ConsolePage(f"{PATH}/{{number}}", _show)]
