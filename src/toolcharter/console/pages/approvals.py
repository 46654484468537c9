"""Confirmations that wait for a person, and the answers to them."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus

from starlette.responses import JSONResponse, Response

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.people import AlreadyAnswered, Verdict, Waiting
from mcp_core.calling.requests import CONFIRM, DECLINE, Sender
from mcp_core.state.subscribers import Subscribers
from toolcharter.console.event_stream import event, event_stream, too_many
from toolcharter.console.page import ConsolePage, View
from toolcharter.console.rights import may_answer, waiting_for
from toolcharter.output.markup import element

PATH = "/console/approvals"
_IDLE_SECONDS = 15.0
_GONE = "This call does not wait any more: somebody else has answered, its client has ended it, or its time is over."
_MAX_BODY_BYTES = 1000


async def _show(view: View) -> Response:
    about = "Calls that wait until a person confirms them. The first answer holds, here or in the client."
    return view.page(
        "Approvals",
        element("h1", "Approvals"),
        element("p", about, class_="note"),
        element("noscript", element("p", "This page needs JavaScript.")),
        element("p", role="status", id="state"),
        element("div", id="waiting"),
        scripts=["approvals.js", "live.css"],
    )


def _count(view: View) -> int:
    return view.waiting


async def _list(view: View) -> Response:
    found = sorted(await waiting_for(view.viewer), key=lambda one: one.asked)
    return JSONResponse({"waiting": [one._asdict() for one in found]})


async def _events(view: View) -> Response:
    changes = view.console.approval_changes
    return too_many() if changes.is_full else event_stream(_changed(changes))


async def _changed(changes: Subscribers[None]) -> AsyncGenerator[str | None]:
    """An event at once, and for each change. What has changed is not in it: the page asks, with its rights."""
    async with aclosing(changes.listen(_IDLE_SECONDS)) as items:
        async for _ in items:
            yield event("changed")


async def _answer(view: View) -> Response:
    app = view.viewer.app(view.part("server"))
    approvals = app.approvals if app is not None else None
    if app is None or approvals is None:
        return _error(HTTPStatus.NOT_FOUND, _GONE)
    accepted = await _accepted(view)
    if accepted is None:
        return _error(HTTPStatus.BAD_REQUEST, 'Send {"accepted": true} or {"accepted": false}.')
    caller, waiting = view.viewer.callers[app.name], approvals.get(view.part("id"))
    if waiting is None or not may_answer(caller, waiting.caller):
        return _error(HTTPStatus.NOT_FOUND, _GONE)  # what a caller may not see looks as if it did not exist
    try:
        await approvals.answer(waiting.id, Verdict(accepted, caller.key))
    except AlreadyAnswered:
        return _error(HTTPStatus.CONFLICT, _GONE)
    _record(view, app, caller, waiting, accepted=accepted)
    return JSONResponse({"accepted": accepted})


async def _accepted(view: View) -> bool | None:
    body = b""
    async for part in view.request.stream():
        body += part
        if len(body) > _MAX_BODY_BYTES:
            return None
    try:
        accepted = json.loads(body)["accepted"]
    except (ValueError, TypeError, KeyError):
        return None
    return accepted if isinstance(accepted, bool) else None


def _record(view: View, app: App, caller: Caller, waiting: Waiting, *, accepted: bool) -> None:
    """Write who answered into the audit trail, with the ids of the call."""
    client = view.request.client
    app.requests.record(
        CONFIRM if accepted else DECLINE,
        "ok",
        Sender(caller.key, "toolcharter console", client.host if client else None),
        name=waiting.tool,
        meta={"correlationId": waiting.correlation_id, "traceparent": f"00-{waiting.trace_id}-{'0' * 15}1-00"},
    )


def _error(status: HTTPStatus, words: str) -> Response:
    return JSONResponse({"error": words}, status)


PAGES = [
    ConsolePage(PATH, _show, "Approvals", 30, waiting=_count),
    ConsolePage(f"{PATH}/list", _list),
    ConsolePage(f"{PATH}/events", _events),
    ConsolePage(f"{PATH}/{{server}}/{{id}}", _answer, changes=True),
]
