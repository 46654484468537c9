"""Calls as they happen: the list, its new calls, and the figures of the last hour and day."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from starlette.responses import JSONResponse, Response

from mcp_core.process.install_command import install_command
from toolcharter.call_log import CallEntry, CallFilter, CallLog
from toolcharter.call_log.entry import FAILURES
from toolcharter.call_log.series import SPANS, read_figures
from toolcharter.console.event_stream import event, event_stream, too_many
from toolcharter.console.page import ConsolePage, View
from toolcharter.console.rights import visible_calls
from toolcharter.output.markup import Html, element

PATH = "/console/live"
AT_ONCE = 100
"""Calls in a part of the list."""
_MISSED = 500
"""Calls that a page gets at most when it connects again."""
_SHOWN = ("id", "time", "server", "tool", "caller", "agent", "outcome", "ms", "tokens", "cached", "error_type")
OUTCOMES = {
    "ok": "ok",
    "validation": "invalid arguments",
    "business": "refused",
    "system": "failed",
    "cancelled": "cancelled",
    "asked": "asked first",
}
"""The words for each outcome of a call."""
_COLUMNS = (("Time", ""), ("Tool", ""), ("Caller", ""), ("Agent", ""), ("Outcome", ""), ("ms", "number"))


def _not_kept(view: View) -> str:
    """Why no record of recent calls exists, and what to do."""
    if view.console.site.apps[0].settings.calls_keep is not None:
        return "Recent calls are not kept. Start the server with --calls-keep 1d."
    missing = f"--db needs a library that is missing. Run {install_command('sql')}, and start the server again."
    return f"Recent calls are not kept: {missing}"


def wanted_calls(view: View) -> CallFilter:
    """The calls that the address asks for, of those that the viewer may see."""
    outcome = view.parameter("outcome")
    outcomes = {"": None, "failed": tuple(sorted(FAILURES))}.get(outcome, (outcome,))
    text = view.search_text()
    return CallFilter(
        visible_calls(view.viewer), view.parameter("server") or None, outcomes=outcomes, text=text or None
    )


async def _show(view: View) -> Response:
    title = element("h1", "Live calls")
    if view.console.site.call_log is None:
        return view.page("Live", title, element("p", _not_kept(view)))
    return view.page(
        "Live",
        title,
        element("noscript", element("p", "This page needs JavaScript.")),
        _figures(),
        _filter(view),
        element("p", role="status", id="state", class_="note"),
        element("div", _table(), class_="scroll"),
        element("button", "Show older calls", type="button", id="older", class_="quiet", hidden=True),
        scripts=["live.js", "live.css"],
    )


def _figures() -> Html:
    spans = [
        element(
            "button",
            f"Last {name}",
            type="button",
            value=name,
            class_="quiet",
            aria_pressed=str(name == "hour").lower(),
        )
        for name in SPANS
    ]
    table = element("div", class_="scroll", id="figures", tabindex="0", role="region", aria_label="Figures as a table")
    return element(
        "section",
        element("div", spans, class_="row spans", role="group", aria_label="Time of the figures"),
        element("div", id="plots", class_="plots", tabindex="0", role="region", aria_label="Plots"),
        element("details", element("summary", "The same as a table"), table),
        aria_label="Figures",
    )


def _filter(view: View) -> Html:
    servers = [element("option", "All servers", value=""), *(_option(app.name, view, "server") for app in view.apps)]
    outcomes = [element("option", "All outcomes", value=""), _option("failed", view, "outcome", "All errors")]
    outcomes += [_option(name, view, "outcome", words) for name, words in OUTCOMES.items()]
    search = element(
        "input",
        type="search",
        name="q",
        value=view.parameter("q"),
        placeholder="Tool, caller, agent, argument, error or id",
        aria_label="Search calls",
        aria_keyshortcuts="/",
    )
    return element(
        "form",
        search,
        element("select", servers, name="server", aria_label="Server"),
        element("select", outcomes, name="outcome", aria_label="Outcome"),
        element("button", "Pause", type="button", id="pause", class_="quiet"),
        id="filter",
        role="search",
        class_="filter",
    )


def _option(value: str, view: View, parameter: str, words: str | None = None) -> Html:
    return element("option", words or value, value=value, selected=view.parameter(parameter) == value)


def _table() -> Html:
    heads = [element("th", name, scope="col", class_=kind or None) for name, kind in _COLUMNS]
    heads.append(element("th", "Tokens", scope="col", class_="number"))
    return element(
        "table",
        element("caption", "Recent calls, the newest first", class_="unseen"),
        element("thead", element("tr", heads)),
        element("tbody", id="calls"),
        class_="calls",
    )


# --- what the script reads -------------------------------------------------------------------------------------


async def _list(view: View) -> Response:
    log = view.console.site.call_log
    if log is None:
        return JSONResponse({"error": _not_kept(view)}, 404)
    before = view.number("before")
    last = await log.store.last_id()  # first: a call that is written meanwhile must not be missed
    found = await log.store.find(wanted_calls(view), before, AT_ONCE)
    last = max(last, found[0].id) if found else last
    return JSONResponse({"calls": _rows(found), "more": len(found) == AT_ONCE, "last": last})


def _rows(entries: Sequence[CallEntry]) -> list[dict[str, Any]]:
    return [{name: getattr(entry, name) for name in _SHOWN} for entry in entries]


async def _events(view: View) -> Response:
    log = view.console.site.call_log
    if log is None:
        return JSONResponse({"error": _not_kept(view)}, 404)
    if log.feed.is_full:
        return too_many()
    after = view.number("after", view.request.headers.get("last-event-id"))
    return event_stream(_new_calls(log, wanted_calls(view), after))


async def _new_calls(log: CallLog, wanted: CallFilter, last: int | None) -> AsyncGenerator[str | None]:
    """The calls after the last that the page has, and then each new one."""
    async with aclosing(log.feed.listen()) as feed:
        await anext(feed, None)
        missed = [] if last is None else await log.store.after(last, _MISSED)
        async for entries in _starting_with(missed, feed):
            if entries is None:
                yield None
                continue
            new = [entry for entry in entries if last is None or entry.id > last]
            last = new[-1].id if new else last
            if shown := [entry for entry in new if wanted.matches(entry)]:
                yield event(_rows(shown), last)


async def _starting_with(
    first: Sequence[CallEntry], rest: AsyncGenerator[Sequence[CallEntry] | None]
) -> AsyncGenerator[Sequence[CallEntry] | None]:
    yield first
    async for entries in rest:
        yield entries


async def _show_figures(view: View) -> Response:
    log, span = view.console.site.call_log, SPANS.get(view.parameter("span"))
    if log is None or span is None:
        return JSONResponse({"error": _not_kept(view) if log is None else "The span is hour or day."}, 404)
    server = view.parameter("server") or None
    return JSONResponse(await read_figures(log.store, CallFilter(visible_calls(view.viewer), server), span))


PAGES = [
    ConsolePage(PATH, _show, "Live", 20),
    ConsolePage(f"{PATH}/calls", _list),
    ConsolePage(f"{PATH}/events", _events),
    ConsolePage(f"{PATH}/figures", _show_figures),
]
