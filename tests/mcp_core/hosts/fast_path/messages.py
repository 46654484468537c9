"""Messages as clients send them, good and broken, drawn from a seeded generator; and answers made comparable."""

import json
import re
from copy import deepcopy
from random import Random
from typing import Any

from toolcharter_examples import demo

from mcp_core import App, Resource, ResourcePage, ResourceSource, Settings, page_of
from mcp_core.state.memory import MemoryState

NEW = "2026-07-28"
OLD = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
PREFIX = "io.modelcontextprotocol/"
VERSION, CAPABILITIES, CLIENT = (PREFIX + key for key in ("protocolVersion", "clientCapabilities", "clientInfo"))
STATE = "{state}"
"""Stands for the sealed state of the last question, which differs from side to side."""

Message = dict[str, Any]

CALLS: dict[str, list[Any]] = {
    "add": [
        {"a": 2, "b": 3},
        {"a": 2, "b": 3},
        {"a": -1, "b": 10**30},
        {"a": "2", "b": 3},
        {"a": 1},
        {},
        None,
        {"a": 1.5, "b": True},
        {"a": 1, "b": 2, "c": 3},
        {"a": None, "b": []},
    ],
    "list_notes": [
        {},
        None,
        {"limit": 1},
        {"limit": 0},
        {"words": "welcome", "offset": 1},
        {"words": "x" * 101},
        {"limit": "1"},
    ],
    "get_note": [{"note_id": "note_1"}, {"note_id": "note_999"}, {"note_id": "card_1"}, {"note_id": 5}, {}],
    "create_note": [
        {"title": "Errand", "body": "Buy milk: \u00e9\u4e2d\U0001f600"},
        {"title": ""},
        {"body": "x"},
        {"title": ["x"]},
    ],
    "delete_note": [
        {"note_id": "note_2", "explicit_action": "DELETE_NOTE"},
        {"note_id": "note_2"},
        {"note_id": "note_888", "explicit_action": "DELETE_NOTE"},
        {"explicit_action": "WRONG", "note_id": "note_1"},
        {},
    ],
    "digest_notes": [{}, {"extra": 1}, None],
    "find_notes": [{"words": "welcome"}, {"words": 5}, {}],
    "no_such_tool": [{}, {"a": 1}],
    "ad": [{"a": 1, "b": 2}],
    "": [{}],
}
TOOLS = [handler.__name__ for handler in demo.TOOLS]
PROMPTS: list[Any] = [
    {"name": "review_notes"},
    {"name": "review_notes", "arguments": {}},
    {"name": "review_notes", "arguments": {"words": "welcome", "tone": "\u00e9\u4e2d\U0001f600"}},
    {"name": "review_notes", "arguments": {"words": "xyzzy"}},
    {"name": "review_notes", "arguments": {"word": "x"}},
    {"name": "review_notes", "arguments": {"words": 5}},
    {"name": "review_notes", "arguments": {"words": None}},
    {"name": "review_notes", "arguments": None},
    {"name": "crash", "arguments": {"password": "x"}},
    {"name": "crash"},
    {"name": "review"},
    {"name": ""},
    {},
]
READ = ["resources/list", "resources/read", "resources/read", "resources/templates/list"]
SERVED = ["tools/call"] * 8 + ["prompts/list", "prompts/get", "prompts/get", *READ]
SERVED += ["tools/list", "server/discover", "ping"]
UNSERVED = [
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "resources/subscribe",
    "tasks/list",
    "roots/list",
    "sampling/createMessage",
    "elicitation/create",
    "nope",
    "",
    "tools/call/",
    "TOOLS/LIST",
    "rpc.discover",
    "\u00e9",
]
NOTIFICATIONS = [
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/nope",
    "tools/call",
]
URIS = [
    "toolcharter://tools/add",
    "toolcharter://tools/nope",
    "note://note_1",
    "note://note_999",
    "note://",
    "odd://crash",
    "odd://bytes",
    "add",
    "",
    "file:///etc/passwd",
]
ODD: list[Any] = [None, 5, 1.5, True, "text", [], [1], {}, {"a": 1}]
IDS: list[Any] = [
    0,
    -1,
    2**31,
    2**53 + 1,
    10**40,
    "",
    "seven",
    "7",
    "\u00e9\u4e2d",
    1.5,
    2.0,
    1e300,
    True,
    False,
    None,
    [],
    {},
    [1],
]
PEOPLE: list[Any] = [
    {"name": "t", "version": "1"},
    {"name": "t", "version": "1", "title": "T", "websiteUrl": "https://x.example"},
    {"name": "t"},
    {"version": "1"},
    {"name": 5, "version": "1"},
    {"name": "t", "version": None},
    {"name": "t", "version": "1", "title": 5},
    {"name": "t", "version": "1", "icons": [{"src": "x"}]},
    {"name": "t", "version": "1", "icons": [{}]},
    {"name": "t", "version": "1", "icons": 5},
    {"name": "t", "version": "1", "icons": [{"src": "x", "theme": "pink"}]},
    {"name": "", "version": ""},
    *ODD,
]
SKILLS: list[Any] = [
    {},
    {"elicitation": {}},
    {"elicitation": {"form": {}}},
    {"elicitation": {"url": {}}},
    {"elicitation": None},
    {"elicitation": {"form": None, "url": {}}},
    {"elicitation": {"form": {}, "url": {}}},
    {"elicitation": 5},
    {"elicitation": {"form": 5}},
    {"roots": {}},
    {"roots": 5},
    {"roots": {"listChanged": True}},
    {"sampling": {}},
    {"sampling": {"tools": 5}},
    {"experimental": {"x": {}}},
    {"experimental": {"x": 5}},
    {"experimental": {"x": None}},
    {"extensions": {"x": {}}},
    {"extensions": []},
    {"tasks": {"list": {}}},
    {"tasks": {"requests": {"sampling": 5}}},
    {"future": 5},
    *ODD,
]
REPLIES: list[Any] = [
    {"confirm": {"action": "accept", "content": {"confirm": True}}},
    {"confirm": {"action": "decline"}},
    {"confirm": {"action": "accept", "content": {"confirm": False}}},
    {"confirm": {"action": "cancel"}},
    {"confirm": {"action": "accept", "content": {"confirm": "yes"}}},
    {"confirm": {"action": "maybe"}},
    {"confirm": {"action": "accept", "content": {"confirm": {}}}},
    {"confirm": {"action": "accept", "content": 5}},
    {"confirm": {}},
    {"confirm": 5},
    {"other": {"action": "accept"}},
    {"confirm": {"roots": []}},
    *ODD,
]
ASKING = {"elicitation": {"form": {}}}


async def crash(password: str) -> str:
    """Fail as no prompt should."""
    raise RuntimeError(password)


async def read_odd(uri: str) -> bytes:
    """Read bytes, or fail as nothing that is read should."""
    return {"odd://bytes": b"\x89"}[uri]


def list_odd(cursor: str | None = None) -> ResourcePage:
    """Two pages."""
    return page_of([Resource("odd://crash", "Crash"), Resource("odd://bytes", "Bytes")], cursor, size=1)


def built() -> App:
    """A demo whose time stands still, so that neither side's cache or limit runs out before the other's."""
    app = demo.build(Settings(log_level="CRITICAL"))
    app.prompt()(crash)
    app.library.add_source(ResourceSource("odd://", read=read_odd, list=list_odd))
    app._state = MemoryState(lambda: 1000.0)
    return app


def pick(rng: Random, values: list[Any]) -> Any:
    """One of several values, and nobody else's: messages are spoilt later, and what they share would be spoilt too."""
    return deepcopy(rng.choice(values))


def request(rng: Random, era: str) -> Message:
    """A good request, or one that is good but for the method or the arguments."""
    method = pick(rng, UNSERVED) if rng.random() < 0.08 else pick(rng, SERVED)
    params: Message = {}
    if method == "tools/call":
        # Few notes are made: the sixty-first within the minute would be refused.
        name = pick(rng, [tool for tool in CALLS if tool != "create_note" or rng.random() < 0.3])
        params = {"name": name, "arguments": pick(rng, CALLS[name])}
        if rng.random() < 0.1:
            del params["arguments"]
    elif method == "prompts/get":
        params = dict(pick(rng, PROMPTS))
    elif method == "resources/read":
        params = {"uri": pick(rng, URIS)}
    elif method.endswith("/list") and rng.random() < 0.4:
        params = {"cursor": pick(rng, ["x", "", None, 5, {}, "1.1", "1.x", "0.5"])}
    message: Message = {"jsonrpc": "2.0", "id": rng.randrange(1, 1_000_000), "method": method}
    if era == NEW:
        params["_meta"] = {VERSION: NEW, CAPABILITIES: pick(rng, SKILLS[:8]) if rng.random() < 0.5 else {}}
        if rng.random() < 0.7:
            params["_meta"][CLIENT] = {"name": "generated", "version": "1"}
    if params or rng.random() < 0.5:
        message["params"] = params
    return message


def handshake(rng: Random) -> Message:
    params: Message = {
        "protocolVersion": pick(rng, [*OLD, NEW, "1999-01-01", "", *ODD]),
        "capabilities": pick(rng, SKILLS),
        "clientInfo": pick(rng, PEOPLE),
    }
    if rng.random() < 0.6:
        params = {"protocolVersion": pick(rng, OLD), "capabilities": pick(rng, SKILLS[:4]), "clientInfo": PEOPLE[0]}
    if rng.random() < 0.1:
        del params[pick(rng, list(params))]
    return {"jsonrpc": "2.0", "id": rng.randrange(1, 1000), "method": "initialize", "params": params}


def spoil_message(rng: Random, message: Message) -> None:
    """Make one thing about the message itself unusual."""
    change = rng.randrange(9)
    if change == 0:
        message["id"] = pick(rng, IDS)
    elif change == 1:
        message.pop("id", None)
        message["method"] = pick(rng, NOTIFICATIONS)
    elif change == 2:
        message["jsonrpc"] = pick(rng, ["1.0", 2.0, None, "2.0 ", []])
    elif change == 3:
        message.pop(pick(rng, ["jsonrpc", "id", "method", "params"]), None)
    elif change == 4:
        message["method"] = pick(rng, ODD)
    elif change == 5:
        message["params"] = pick(rng, ODD)
    elif change == 6:
        message |= pick(rng, [{"result": {}}, {"error": {"code": 1, "message": "x"}}, {"extra": 1}, {"result": 5}])
    elif change == 7:
        message.pop("method", None)
        message.pop("params", None)
        message |= pick(rng, [{"result": {}}, {"result": 5}, {"error": {"code": 1, "message": "x"}}, {"error": {}}])
    else:
        message["id"] = pick(rng, IDS[:9])


def spoil_params(rng: Random, message: Message) -> None:
    """Make one of the parameters unusual."""
    params = message.setdefault("params", {})
    if not isinstance(params, dict):
        return
    key = pick(rng, [*params, "name", "arguments", "uri", "cursor", "task", "requestState", "inputResponses", "other"])
    if rng.random() < 0.3:
        params.pop(key, None)
    elif key == "inputResponses":
        params |= {key: pick(rng, REPLIES), "requestState": pick(rng, [STATE, STATE, STATE, "forged", 5])}
    elif key != "_meta":
        params[key] = pick(rng, [*ODD, {"ttl": 5}, {"ttl": {}}])


def spoil_meta(rng: Random, message: Message) -> None:
    """Make one part of the envelope unusual."""
    params = message.setdefault("params", {})
    if not isinstance(params, dict):
        return
    if rng.random() < 0.15:
        params["_meta"] = pick(rng, ODD)
        return
    meta = params.setdefault("_meta", {})
    if not isinstance(meta, dict):
        return
    key = pick(rng, [VERSION, CAPABILITIES, CLIENT, "progressToken", PREFIX + "logLevel", "traceparent", "x"])
    if rng.random() < 0.3:
        meta.pop(key, None)
    else:
        meta[key] = pick(
            rng,
            {
                VERSION: [*OLD, "2030-01-01", "", *ODD],
                CAPABILITIES: SKILLS,
                CLIENT: PEOPLE,
                "progressToken": [1, "t", 10**30, 1.5, 2.0, True, {}, [], None],
                PREFIX + "logLevel": ["debug", "loud", 5, None],
            }.get(key, ODD),
        )


def spoil_text(rng: Random, text: bytes) -> bytes:
    """Make one thing about the text unusual."""
    at = rng.randrange(len(text))
    return pick(
        rng,
        [
            text[:at],
            text[:at] + b"\xff" + text[at:],
            text.replace(b'"method"', b'"method":"ping","method"'),
            text.replace(b'"id"', b'"id":77,"id"'),
            text.replace(b'"params"', b'"params":{},"params"'),
            b"[" + text + b"]",
            b"[" + text + b"," + text + b"]",
            b"[]",
            b"",
            b"null",
            b'"text"',
            b"42",
            b"\xef\xbb\xbf" + text,
            text + b"}",
            text + b" " * 100,
            b"[" * 150 + b"]" * 150,
            b"[" * 5000,
            text.replace(b"{", b'{"deep":' + b"[" * 300 + b"]" * 300 + b",", 1),
            text.replace(b"{", b'{"deep":' + b'{"a":' * 120 + b"1" + b"}" * 120 + b",", 1),
            text.replace(b"{", b'{"many":' + b"9" * 5000 + b",", 1),
            text.replace(b"{", b'{"nan":NaN,', 1),
            text.replace(b"{", b'{"half":"\\ud800",', 1),
            text.replace(b'"arguments":', b'"arguments":{"deep":' + b"[" * 90 + b"]" * 90 + b'},"other":', 1),
        ],
    )


# ---- answers ---------------------------------------------------------------------------------------------

VOLATILE = re.compile(
    r'"(timestamp|executionTime|traceId|correlationId|cached|requestState|errorId)":("[^"]*"|[\d.e-]+|true|false)'
)


def steady(value: Any) -> Any:
    """A result without what differs from call to call."""
    if isinstance(value, dict):
        return {key: "*" if key == "requestState" else steady(item) for key, item in value.items()}
    if isinstance(value, list):
        return [steady(item) for item in value]
    if isinstance(value, str) and value.startswith("{"):
        return VOLATILE.sub(r'"\1":"*"', re.sub(r"err-[0-9a-f]{12}", "err-*", value))
    return value


def with_state(value: Any, state: str) -> Any:
    """The message with the sealed state of one side."""
    return json.loads(json.dumps(value).replace(json.dumps(STATE), json.dumps(state)))
