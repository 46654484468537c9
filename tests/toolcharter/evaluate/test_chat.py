"""The chat selector against a chat completions endpoint on a real socket."""

import json
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mcp_core.declare.listed import ListedTool
from tests.toolcharter.evaluate.chat_server import ChatHandler, chat_server
from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.chat import ChatFailed, ChatSelector, Endpoint, Estimate
from toolcharter.evaluate.chat_protocol import SYSTEM, retry_after
from toolcharter.evaluate.result import CaseResult

TOOLS = [
    ListedTool("add.task", "", "Create a task.", {"type": "object", "properties": {"title": {"type": "string"}}}),
    ListedTool("list_tasks", "", "Show tasks.", {}),
]
ADD = Case("add milk", "add.task", {"title": "Milk"})
LIST = Case("show all", "list_tasks")
MOON = Case("how far is the moon", None)

Reply = tuple[int, dict[str, str], str]


def called(name: str, arguments: str = "{}") -> Reply:
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return completion({"role": "assistant", "content": None, "tool_calls": [call]})


def said(text: str) -> Reply:
    return completion({"role": "assistant", "content": text})


def completion(message: dict[str, Any]) -> Reply:
    body = {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 90, "completion_tokens": 7},
    }
    return 200, {}, json.dumps(body)


def refused(status: int, message: str, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, json.dumps({"error": {"message": message}})


@dataclass
class StandIn:
    """Answers each utterance with its replies, one after the other; the last one is repeated."""

    url: str
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    most_at_once: int = 0
    meeting: threading.Barrier | None = None
    _inside: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def asked(self) -> list[str]:
        return [body["messages"][-1]["content"] for _, _, body in self.seen]

    def reply(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        with self._lock:
            self.seen.append((path, headers, body))
            self._inside += 1
            self.most_at_once = max(self.most_at_once, self._inside)
            waiting = self.replies[body["messages"][-1]["content"]]
            found = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if self.meeting is not None:
            self.meeting.wait(60)
        with self._lock:
            self._inside -= 1
        return found


@pytest.fixture
def endpoint() -> Iterator[StandIn]:
    class Handler(ChatHandler):
        protocol_version = "HTTP/1.1"

        def respond(self, body: dict[str, Any]) -> None:
            if body["messages"][-1]["content"] == "be slow":
                released.wait(60)
                self.close_connection = True
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, more, text = stand_in.reply(self.path, headers, body)
            self.send_response(status)
            for name, value in {"content-length": str(len(text.encode())), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

    released = threading.Event()
    with chat_server(Handler) as url:
        stand_in = StandIn(url)
        yield stand_in
        released.set()


@pytest.fixture
def asking(endpoint: StandIn, tmp_path: Path) -> Callable[..., ChatSelector]:
    """A selector that does not wait, but records how long it would have waited."""

    def made(**options: Any) -> ChatSelector:
        async def sleep(seconds: float) -> None:
            selector.waits.append(seconds)

        given: dict[str, Any] = {"model": "stand-in", "key": "secret", **options}
        selector = ChatSelector(Endpoint(endpoint.url, **given), tmp_path / "answers.jsonl", sleep=sleep)
        selector.dice = random.Random(1)
        selector.waits = []
        return selector

    return made


async def test_a_call_is_the_choice_and_no_call_is_none(endpoint: StandIn, asking: Callable[..., ChatSelector]):
    endpoint.replies = {
        "add milk": [called("add_task", '{"title": "Milk"}')],
        "show all": [called("list_tasks", "not json")],
        "how far is the moon": [said("I cannot tell.")],
    }
    result = await asking().select(TOOLS, [ADD, LIST, MOON])
    assert result.selector == "chat:stand-in"
    assert result.cases == [
        CaseResult(ADD, "add.task", arguments={"title": "Milk"}),
        CaseResult(LIST, "list_tasks", arguments={}),
        CaseResult(MOON, None),
    ]
    assert result.unanswered == {}


async def test_the_request_follows_the_protocol(endpoint: StandIn, asking: Callable[..., ChatSelector]):
    endpoint.replies = {"add milk": [said("no")]}
    await asking().select(TOOLS, [ADD])
    ((path, headers, body),) = endpoint.seen
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer secret"
    assert body == {
        "model": "stand-in",
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "add milk"}],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "add_task",
                    "description": "Create a task.",
                    "parameters": {"type": "object", "properties": {"title": {"type": "string"}}},
                },
            },
            {
                "type": "function",
                "function": {
                    "name": "list_tasks",
                    "description": "Show tasks.",
                    "parameters": {"type": "object", "properties": {}},
                },
            },
        ],
        "tool_choice": "auto",
        "temperature": 0.0,
    }


async def test_a_model_may_be_asked_without_key_and_temperature(endpoint: StandIn, asking: Callable[..., ChatSelector]):
    endpoint.replies = {"add milk": [said("no")]}
    await asking(key=None, temperature=None).select(TOOLS, [ADD])
    ((_, headers, body),) = endpoint.seen
    assert ("authorization" in headers, "temperature" in body) == (False, False)


async def test_a_rate_limit_is_waited_for_as_long_as_the_endpoint_asks(
    endpoint: StandIn, asking: Callable[..., ChatSelector]
):
    endpoint.replies = {"add milk": [refused(429, "too fast", retry_after="7"), called("add_task")]}
    selector = asking()
    result = await selector.select(TOOLS, [ADD])
    assert [one.tool for one in result.cases] == ["add.task"]
    assert selector.waits == [pytest.approx(7, abs=1)]


async def test_other_failures_are_retried_after_increasing_waits(
    endpoint: StandIn, asking: Callable[..., ChatSelector]
):
    endpoint.replies = {
        "add milk": [
            refused(500, "oops"),
            (503, {}, "<html>"),
            (200, {}, "{not json"),
            (200, {}, '{"choices": []}'),
            (200, {}, "[]"),
            called("add_task"),
        ]
    }
    selector = asking()
    result = await selector.select(TOOLS, [ADD])
    assert [one.tool for one in result.cases] == ["add.task"]
    assert len(selector.waits) == 5
    assert all(2**n / 2 <= wait <= 2**n for n, wait in enumerate(selector.waits))


async def test_a_case_without_an_answer_is_never_counted_as_none(
    endpoint: StandIn, asking: Callable[..., ChatSelector]
):
    endpoint.replies = {"add milk": [refused(500, "broken")], "show all": [called("list_tasks")]}
    result = await asking(retries=2).select(TOOLS, [ADD, LIST])
    assert [one.case for one in result.cases] == [LIST]
    assert result.unanswered == {"add milk": "HTTP 500: broken"}
    assert endpoint.asked.count("add milk") == 3


async def test_a_response_that_does_not_come_ends_with_the_timeout(
    endpoint: StandIn, asking: Callable[..., ChatSelector]
):
    result = await asking(timeout=0.2, retries=1).select(TOOLS, [Case("be slow", None)])
    assert result.unanswered == {"be slow": "no response within 0.2 s"}


async def test_an_endpoint_that_cannot_be_reached_is_reported(tmp_path: Path):
    selector = ChatSelector(Endpoint("http://127.0.0.1:9/v1", "m", retries=0), tmp_path / "answers.jsonl")
    result = await selector.select(TOOLS, [ADD])
    assert list(result.cases) == []
    assert "cannot be reached" in result.unanswered["add milk"]


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_refusal_ends_the_run_with_the_reason(
    endpoint: StandIn, asking: Callable[..., ChatSelector], status: int
):
    endpoint.replies = {case.utterance: [refused(status, "bad key")] for case in (ADD, LIST, MOON)}
    with pytest.raises(ChatFailed, match=f"refused with HTTP {status}: bad key"):
        await asking(concurrency=1).select(TOOLS, [ADD, LIST, MOON])
    assert endpoint.asked == ["add milk"]


async def test_a_second_run_asks_only_missing_cases(endpoint: StandIn, asking: Callable[..., ChatSelector]):
    endpoint.replies = {"add milk": [called("add_task")], "show all": [refused(500, "broken"), called("list_tasks")]}
    first = await asking(retries=0).select(TOOLS, [ADD, LIST])
    assert (len(first.cases), len(first.unanswered)) == (1, 1)
    assert asking().estimate(TOOLS, [ADD, LIST]).requests == 1
    again = await asking(retries=0).select(TOOLS, [ADD, LIST])
    assert [one.tool for one in again.cases] == ["add.task", "list_tasks"]
    assert sorted(endpoint.asked) == ["add milk", "show all", "show all"]
    assert asking().estimate(TOOLS, [ADD, LIST]) == Estimate(0, 0, 0)


async def test_other_descriptions_or_another_model_are_another_question(
    endpoint: StandIn, asking: Callable[..., ChatSelector]
):
    endpoint.replies = {"add milk": [called("add_task")]}
    await asking().select(TOOLS, [ADD])
    await asking().select([ListedTool("add.task", "", "Changed.", {})], [ADD])
    await asking(model="other").select(TOOLS, [ADD])
    assert len(endpoint.asked) == 3


async def test_a_case_with_an_incomplete_line_is_asked_again(endpoint: StandIn, asking: Callable[..., ChatSelector]):
    endpoint.replies = {"add milk": [called("add_task")], "show all": [called("list_tasks")]}
    selector = asking()
    await selector.select(TOOLS, [ADD])
    whole = selector.answers.read_text()
    selector.answers.write_text(whole + whole[:30])
    await selector.select(TOOLS, [ADD, LIST])
    assert endpoint.asked == ["add milk", "show all"]
    await selector.select(TOOLS, [ADD, LIST])
    assert endpoint.asked == ["add milk", "show all"]


async def test_no_more_requests_run_at_once_than_allowed(endpoint: StandIn, asking: Callable[..., ChatSelector]):
    cases = [Case(str(number), None) for number in range(6)]
    endpoint.replies = {case.utterance: [said("no")] for case in cases}
    # Each request waits inside the endpoint for a second one, so fewer than two at once would never end.
    endpoint.meeting = threading.Barrier(2)
    await asking(concurrency=2).select(TOOLS, cases)
    assert endpoint.most_at_once == 2


async def test_a_tool_that_the_model_invented_is_wrong(endpoint: StandIn, asking: Callable[..., ChatSelector]):
    endpoint.replies = {"add milk": [called("buy_milk")]}
    (result,) = (await asking().select(TOOLS, [ADD])).cases
    assert (result.tool, result.is_correct) == ("buy_milk", False)


async def test_names_that_become_equal_are_refused(asking: Callable[..., ChatSelector]):
    twins = [ListedTool("add.task", "", "", {}), ListedTool("add_task", "", "", {})]
    with pytest.raises(ChatFailed, match="Two tools have the same name"):
        await asking().select(twins, [ADD])


def test_the_cost_follows_from_tokens_and_prices():
    assert Estimate(10, 2_000_000, 500_000).cost(3.0, 8.0) == 10.0


def test_retry_after_is_a_number_or_a_date():
    assert [retry_after(text) for text in ("3", "0.5", "-1", "soon", "")] == [3.0, 0.5, 0.0, None, None]
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    ahead = retry_after("Wed, 21 Oct 2215 07:28:00 GMT")
    assert ahead is not None
    assert ahead > 1e9
