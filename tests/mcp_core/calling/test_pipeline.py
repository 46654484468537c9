import asyncio
import json
import re
import signal
from datetime import UTC, datetime
from typing import Any

import pytest

from mcp_core import (
    Answer,
    App,
    Caller,
    Confirm,
    Conflict,
    NotFound,
    Question,
    RateLimit,
    Request,
    Result,
    Settings,
    ToolContext,
    ToolError,
    Unavailable,
    UnknownTool,
    hints,
)
from mcp_core.calling.pipeline import Pipeline
from mcp_core.calling.policy import CallPolicy
from mcp_core.calling.provided import Provided
from mcp_core.logs.telemetry import Telemetry
from mcp_core.registry import ToolRegistry
from mcp_core.state.memory import MemoryState
from tests.mcp_core.declared import Number, Text, mutation, query

ALL = Caller("user:ann", grants=frozenset({"*"}))
HEX = re.compile(r"[0-9a-f]{32}")


async def result_of(app: App, request: Request) -> dict[str, Any]:
    answer = await app.answer(request)
    assert isinstance(answer, Answer)
    return json.loads(answer.text)


# ---- the gates, in order -------------------------------------------------------------------------


class Watched(MemoryState):
    """The store, and what was done with it."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    async def hit(self, *given: Any) -> float:
        self.done.append("count")
        return await super().hit(*given)

    async def seal_key(self) -> bytes:
        self.done.append("ask")
        return await super().seal_key()

    async def lookup(self, *given: Any) -> Any:
        self.done.append("lookup")
        return await super().lookup(*given)

    async def store(self, *given: Any) -> None:
        self.done.append("store")
        await super().store(*given)

    async def invalidate(self, *given: Any) -> None:
        self.done.append("invalidate")
        await super().invalidate(*given)


def gated(state: Watched) -> App:
    @mutation(
        {"note": "x", "explicit_action": "DELETE"},
        permissions=["notes:delete"],
        rate_limit=RateLimit(4, 3_600_000),
        confirm=Confirm("DELETE", required=True),
    )
    async def delete(note: Text) -> str:
        state.done.append("run")
        return "deleted"

    @query(permissions=["notes:read"], rate_limit=RateLimit(2, 3_600_000), cache_ttl=60)
    async def read() -> str:
        state.done.append("run")
        return "read"

    return App("test", version="1.0.0", format="result", tools=[delete, read], state=state)


@pytest.mark.requirement("VAL-1")
async def test_limit_permission_arguments_and_consent_are_checked_in_this_order_and_nothing_is_done_before():
    state, right = Watched(), {"note": "x", "explicit_action": "DELETE"}
    nobody, asks = Caller(), {"can_return_questions": True}
    async with gated(state) as app:
        assert (await result_of(app, Request("delete", {}, nobody, **asks)))["error_type"] == "PermissionError"
        assert (await result_of(app, Request("delete", {}, Caller(grants=ALL.grants), **asks)))[
            "error_type"
        ] == "ValidationError"
        assert state.done == ["count", "count"]
        assert isinstance(await app.answer(Request("delete", right, Caller(grants=frozenset({"*"})), **asks)), Question)
        assert state.done == ["count", "count", "count", "ask"]
        assert (await result_of(app, Request("delete", right, Caller(grants=frozenset({"*"})))))[
            "error_type"
        ] == "ConsentError"
        assert (await result_of(app, Request("delete", {}, nobody)))["error_type"] == "RateLimitError"
    assert state.done == ["count", "count", "count", "ask", "count", "count"]


@pytest.mark.requirement("VAL-1", "VAL-2")
async def test_every_gate_comes_before_the_cache_and_the_cache_before_the_handler():
    state = Watched()
    async with gated(state) as app:
        assert (await result_of(app, Request("read", {}, ALL)))["value"] == "read"
        assert (await result_of(app, Request("read", {}, ALL)))["value"] == "read"
        assert (await result_of(app, Request("read", {}, ALL)))["error_type"] == "RateLimitError"
        assert (await result_of(app, Request("read", {}, Caller("user:ann2"))))["error_type"] == "PermissionError"
    first, second, limited, refused = ["count", "lookup", "run", "store"], ["count", "lookup"], ["count"], ["count"]
    assert state.done == first + second + limited + refused


async def test_a_mutation_forgets_after_it_ran():
    state, asked = Watched(), []

    async def agree(question: str) -> bool:
        asked.append(question)
        return True

    async with gated(state) as app:
        arguments = {"note": "x", "explicit_action": "DELETE"}
        assert (await result_of(app, Request("delete", arguments, ALL, ask=agree)))["value"] == "deleted"
    assert len(asked) == 1
    assert state.done == ["count", "run", "invalidate"]


async def test_an_unknown_tool_is_refused_with_the_nearest_name_and_counted_under_one_name_for_all():
    state = Watched()
    async with gated(state) as app:
        with pytest.raises(UnknownTool, match=r"Unknown tool: 'delite'\. Did you mean 'delete'\?"):
            await app.answer(Request("delite", {}, ALL))
        with pytest.raises(UnknownTool, match="tools/list shows all"):
            await app.answer(Request("\ud800" * 10_000, {"n": float("nan")}, ALL))
        counts = {tool: tally.outcomes for tool, tally in app.telemetry.tallies.items()}
    assert counts == {"(unknown)": {"validation": 2}}
    assert state.done == []


# ---- hints and metadata --------------------------------------------------------------------------


def is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def is_list_of(value: Any, **fields: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) and has(item, **fields) for item in value)


def has(item: dict[str, Any], **fields: Any) -> bool:
    return all(name in item and check(item[name]) for name, check in fields.items())


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def one_of(*words: str) -> Any:
    return lambda value: value in words


LEVEL = one_of("critical", "high", "medium", "low")
ELEVEN: dict[str, Any] = {
    "suggestedNextActions": lambda v: is_list_of(v, action=is_text, priority=LEVEL),
    "relatedResources": lambda v: is_list_of(v, type=is_text, id=is_text, label=is_text, relevance=is_share),
    "confidence": is_share,
    "sourceQuality": one_of("high", "medium", "low", "unknown"),
    "validityPeriod": one_of("immediate", "short", "medium", "long", "indefinite"),
    "contextNeeded": are_texts,
    "assumptions": are_texts,
    "riskFactors": lambda v: is_list_of(
        v, type=is_text, severity=LEVEL, description=is_text, probability=is_share, impact=is_share
    ),
    "dependencies": lambda v: is_list_of(v, action=is_text, dependsOn=are_texts, type=is_text),
    "estimatedImpact": lambda v: has(v, benefit=is_share, effort=is_share, roi=lambda roi: roi >= 0),
    "preferenceAlignment": lambda v: is_list_of(v, action=is_text, preference=is_text, score=lambda s: -1 <= s <= 1),
}


class OwnError(ToolError):
    """An error type that the core has never heard of."""

    error_type = "ShelfError"


ENDINGS: dict[str, Any] = {
    "a value": 5,
    "a list": [1, 2],
    "an empty list": [],
    "a result with hints": Result.ok(5, hints=hints.for_created("book", "book_1", "Emma")),
    "a not found error": NotFound("x"),
    "a conflict": Conflict("x"),
    "an error of its own": OwnError("x"),
    "something that is away": Unavailable("x"),
    "a bug": ZeroDivisionError("x"),
    "an exit": SystemExit(1),
    "a returned failure": Result.failure("x", "ConflictError"),
    "a returned validation failure": Result.failure("x", "ValidationError"),
    "a returned permission failure": Result.failure("x", "PermissionError"),
    "a returned failure of a strange type": Result.failure("x", "RateLimitError"),
    "nothing": None,
    "a set": {1},
}
GATES: dict[str, Any] = {
    "wrong arguments": {"arguments": {"n": "x"}},
    "no permission": {"caller": Caller()},
    "a used-up limit": {"tool": "limited"},
    "a deadline": {"tool": "hang"},
    "no consent": {"tool": "confirmed"},
}


def ending_app(ending: Any) -> App:
    @query({"n": 1}, permissions=["books:read"])
    async def end(n: Number) -> Any:
        if isinstance(ending, BaseException):
            raise ending
        return ending

    @query({"n": 1}, rate_limit=RateLimit(1, 3_600_000))
    async def limited(n: Number) -> int:
        return n

    @query({"n": 1}, response_time=0.01)
    async def hang(n: Number) -> int:
        await asyncio.sleep(600)
        return n

    @mutation({"n": 1}, confirm=Confirm(required=True))
    async def confirmed(n: Number) -> int:
        return n

    return App("test", version="2.3.4", tools=[end, limited, hang, confirmed], format="hints")


@pytest.mark.requirement("HIN-1", "MET-1", "ERR-1")
@pytest.mark.parametrize("ending", [*ENDINGS, *GATES])
async def test_every_answer_has_all_eleven_hints_and_all_metadata_however_the_call_ends(ending: str):
    async with ending_app(ENDINGS.get(ending)) as app:
        request: dict[str, Any] = {"tool": "end", "arguments": {"n": 1}, "caller": ALL} | GATES.get(ending, {})
        if ending == "a used-up limit":
            await app.answer(Request(**request))
        answer = await app.answer(Request(**request))
    assert isinstance(answer, Answer)
    made = json.loads(answer.text)
    wrong = [
        name for name, check in ELEVEN.items() if name not in made["agentHints"] or not check(made["agentHints"][name])
    ]
    assert wrong == []
    assert made["agentHints"]["reasoning"].count("Confidence") == 1
    assert made["metadata"].keys() == {
        *("toolVersion", "serviceVersion", "timestamp", "executionTime", "traceId", "correlationId", "cached")
    }
    assert made["metadata"]["toolVersion"] == "1.0.0"
    assert made["metadata"]["serviceVersion"] == "2.3.4"
    failed = ending in GATES or ending not in ("a value", "a list", "an empty list", "a result with hints")
    assert answer.is_error is failed
    assert (made["data"] is None) is failed
    if failed:
        assert made["agentHints"]["confidence"] == 0.0
        assert made["error"]["kind"] in ("validation", "business", "system")
        assert ("instruction" in made) is ("returned" not in ending)


@pytest.mark.requirement("CTX-1", "MET-1")
async def test_the_metadata_says_how_when_and_by_what_an_answer_was_made():
    @query(version="1.2.3")
    async def one(context: ToolContext) -> str:
        return context.timestamp

    registry = ToolRegistry()
    registry.register(one)
    now = datetime(2026, 7, 28, 10, 0, 0, 123_000, tzinfo=UTC)
    telemetry = Telemetry("test")
    pipeline = Pipeline(
        registry,
        CallPolicy("hints", "4.5.6"),
        state=MemoryState(),
        telemetry=telemetry,
        provided=Provided(),
        clock=now.timestamp,
    )
    answer = await pipeline.run(Request("one", {}))
    assert isinstance(answer, Answer)
    made = json.loads(answer.text)
    metadata = made["metadata"]
    assert made["data"] == "2026-07-28T10:00:00.123+00:00"
    assert metadata == {
        "toolVersion": "1.2.3",
        "serviceVersion": "4.5.6",
        "timestamp": "2026-07-28T10:00:00.123+00:00",
        "executionTime": metadata["executionTime"],
        "traceId": metadata["traceId"],
        "correlationId": metadata["correlationId"],
        "cached": False,
    }
    recorded = telemetry.tallies["one"].seconds * 1000
    assert recorded / 100 < metadata["executionTime"] <= recorded  # milliseconds, and all of the work
    assert HEX.fullmatch(metadata["traceId"])
    assert HEX.fullmatch(metadata["correlationId"])


@pytest.mark.requirement("MET-1")
async def test_the_metadata_of_an_answer_from_the_cache_says_so():
    @query(cache_ttl=60)
    async def one() -> int:
        return 1

    async with App("test", tools=[one], format="hints") as app:
        cached = [json.loads((await app.call("one")).text)["metadata"]["cached"] for _ in range(2)]
    assert cached == [False, True]


# ---- the context ---------------------------------------------------------------------------------


@pytest.mark.requirement("CTX-1", "CTX-2")
async def test_a_handler_knows_the_caller_the_agent_and_the_trace():
    @query()
    async def who(context: ToolContext) -> dict[str, Any]:
        return context.to_dict()

    meta = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "correlationId": "c-1", "mood": "good"}
    caller = Caller("user:ann", user_id="ann")
    async with App("test", version="1.0.0", format="result", tools=[who]) as app:
        seen = (await result_of(app, Request("who", {}, caller, "claude", "4.1", "session-1", meta)))["value"]
    assert seen == {
        "userId": "ann",
        "sessionId": "session-1",
        "correlationId": "c-1",
        "traceId": "a" * 32,
        "agentId": "claude",
        "agentVersion": "4.1",
        "timestamp": seen["timestamp"],
        "metadata": meta,
    }
    when = datetime.fromisoformat(seen["timestamp"])
    assert when.utcoffset() == datetime.now(UTC).utcoffset()
    assert abs((datetime.now(UTC) - when).total_seconds()) < 60


@pytest.mark.requirement("CTX-2")
@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"traceparent": 5, "correlationId": 5},
        {"traceparent": "", "correlationId": ""},
        {"traceparent": f"00-{'0' * 32}-{'b' * 16}-01"},
        {"traceparent": f"00-{'A' * 32}-{'b' * 16}-01"},
        {"traceparent": f"00-{'a' * 31}-{'b' * 16}-01"},
        {"traceparent": f"00-{'a' * 32}-x-y"},
        {"traceparent": f"{'a' * 32}", "correlationId": "x\n2026-01-01 ERROR forged"},
        {"traceparent": "\ud800", "correlationId": "\ud800"},
        {"correlationId": "x" * 10_000},
    ],
)
async def test_ids_are_made_where_the_request_brings_none_that_can_be_used(meta: dict[str, Any], log):
    @query()
    async def who(context: ToolContext) -> list[str]:
        return [context.trace_id, context.correlation_id]

    async with App("test", version="1.0.0", format="result", tools=[who]) as app:
        one, two = [(await result_of(app, Request("who", {}, meta=meta)))["value"] for _ in range(2)]
    assert all(map(HEX.fullmatch, (*one, *two)))
    assert len({*one, *two}) == 4
    assert not [text for text in log.texts if "\n" in text or "forged" in text.partition("arguments=")[0]]


async def test_the_answer_and_the_context_carry_the_same_ids():
    @query()
    async def who(context: ToolContext) -> list[str]:
        return [context.trace_id, context.correlation_id]

    async with App("test", version="1.0.0", tools=[who], format="hints") as app:
        made = await result_of(app, Request("who", {}))
    assert made["data"] == [made["metadata"]["traceId"], made["metadata"]["correlationId"]]


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.requirement("ERR-2")
@pytest.mark.parametrize("format", ["result", "bare", "hints"])
async def test_an_unexpected_error_shows_an_id_and_nothing_of_itself(format: Any, log):
    leaky = "/srv/app/notes.py SELECT body FROM notes WHERE owner='zoe' password=hunter2"

    @query({"n": 1})
    async def fail(n: Number) -> int:
        try:
            raise KeyError(leaky)
        except KeyError as error:
            raise RuntimeError(leaky) from error

    async with App("test", version="1.0.0", tools=[fail], format=format) as app:
        answer = await app.answer(Request("fail", {"n": 1}))
    assert isinstance(answer, Answer)
    assert answer.is_error
    everything = answer.text + json.dumps(answer.meta)
    secrets = ("/srv", ".py", "SELECT", "zoe", "hunter2", "Traceback", "RuntimeError", "KeyError", "mcp_core", "File ")
    assert not [word for word in secrets if word in everything]
    (error_id,) = set(re.findall(r"err-[0-9a-f]{12}", answer.text))
    (entry,) = [entry for entry in log.entries if entry.get("fields", {}).get("errorId") == error_id]
    assert "/srv/app/notes.py" in entry["message"]
    assert "KeyError" in entry["stack"]
    assert "hunter2" not in json.dumps(entry)


@pytest.mark.requirement("ERR-1")
@pytest.mark.parametrize(
    ("raised", "error_type", "kind"),
    [
        (NotFound("There is no 7."), "NotFoundError", "business"),
        (Conflict("There is no 7."), "ConflictError", "business"),
        (Unavailable("There is no 7."), "UnavailableError", "system"),
        (OwnError("There is no 7."), "ShelfError", "business"),
    ],
)
async def test_an_expected_error_keeps_its_text_type_and_kind(raised: ToolError, error_type: str, kind: str):
    async with ending_app(raised) as app:
        made = await result_of(app, Request("end", {"n": 1}, ALL))
        assert app.telemetry.tallies["end"].outcomes == {kind: 1}
    assert made["error"] == {"type": error_type, "kind": kind, "message": "There is no 7."}
    assert made["instruction"] == raised.default_instruction


async def test_a_message_that_is_not_text_does_not_break_the_answer():
    words: Any = {"not": "text"}
    async with ending_app(NotFound("x", message=words)) as app:
        assert (await result_of(app, Request("end", {"n": 1}, ALL)))["message"] == "{'not': 'text'}"


async def test_the_arguments_are_handed_back_for_a_second_try_unless_they_are_secret_or_long():
    @query({"n": 1, "token": "x"})
    async def with_secret(n: Number, token: Text) -> int:
        raise ZeroDivisionError

    @query({"text": "x"})
    async def plain(text: Text) -> int:
        raise ZeroDivisionError

    async with App("test", version="1.0.0", tools=[with_secret, plain], format="hints") as app:
        secret = await result_of(app, Request("with_secret", {"n": 1, "token": "hunter2"}))
        short = await result_of(app, Request("plain", {"text": "x"}))
        long = await result_of(app, Request("plain", {"text": "x" * 5000}))
    suggested = [made["agentHints"]["suggestedNextActions"] for made in (secret, short, long)]
    assert suggested == [
        [
            {
                "action": "with_secret",
                "priority": "high",
                "needs": [
                    {"name": "n", "description": "A whole number."},
                    {"name": "token", "description": "Some text."},
                ],
            }
        ],
        [{"action": "plain", "priority": "high", "data": {"text": "x"}}],
        [{"action": "plain", "priority": "high", "needs": [{"name": "text", "description": "Some text."}]}],
    ]


async def test_a_redis_that_hangs_holds_no_call_up_for_long(new_redis):
    server, ran = new_redis(), []

    @query(cache_ttl=60, rate_limit=RateLimit(100, 60_000))
    async def one() -> int:
        ran.append(1)
        return len(ran)

    async with App(
        "test", version="1.0.0", format="result", tools=[one], settings=Settings(redis=server.url, redis_timeout=0.1)
    ) as app:
        assert (await result_of(app, Request("one", {})))["value"] == 1
        server.process.send_signal(signal.SIGSTOP)
        async with asyncio.timeout(30):
            assert (await result_of(app, Request("one", {})))["value"] == 2
