"""A chat model behind an OpenAI-compatible endpoint: it gets the tools and a request, and calls one tool or none."""

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate import chat_protocol
from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.result import CaseResult, SelectorResult

_CHARACTERS_PER_TOKEN = 4  # typical for English and JSON
_TOKENS_PER_ANSWER = 60  # a call with a few arguments
_TEMPORARY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_MAX_WAIT = 120.0
_OK = 200


class ChatFailed(Exception):
    """The run cannot go on, such as when the endpoint refuses the key. The message says why."""


class _TemporaryFailure(Exception):
    """A failure after which a retry may succeed. `wait` is the number of seconds that the endpoint asked for."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The endpoint and its options."""

    url: str
    model: str
    key: str | None = None
    timeout: float = 60.0
    retries: int = 5
    concurrency: int = 4
    temperature: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """The requests and tokens of a run."""

    requests: int
    tokens_in: int
    tokens_out: int

    def cost(self, price_in: float, price_out: float) -> float:
        """The cost, at prices for a million tokens."""
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1_000_000


@dataclass
class ChatSelector:
    """Asks the model about each case. Answers are appended to a file, and not asked for again."""

    endpoint: Endpoint
    answers: Path
    on_answer: Callable[[], object] = lambda: None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    dice: random.Random = field(default_factory=random.Random)
    _not_before: float = 0.0

    @property
    def name(self) -> str:
        """The name in reports: the model, since that is what is measured."""
        return f"chat:{self.endpoint.model}"

    def estimate(self, tools: Sequence[ListedTool], cases: Sequence[Case]) -> Estimate:
        """Estimate the requests that are still missing, by their length."""
        known = self._read_answers()
        bodies = [self._body(tools, case) for case in cases]
        missing = [body for body in bodies if chat_protocol.digest(body) not in known]
        characters = sum(len(json.dumps(body)) for body in missing)
        return Estimate(len(missing), characters // _CHARACTERS_PER_TOKEN, _TOKENS_PER_ANSWER * len(missing))

    async def select(self, tools: Sequence[ListedTool], cases: Sequence[Case]) -> SelectorResult:
        """Ask about every case. A case without an answer is reported as unanswered, never as `none`."""
        names = {chat_protocol.wire_name(tool.name): tool.name for tool in tools}
        if len(names) < len({tool.name for tool in tools}):
            raise ChatFailed("Two tools have the same name in the characters that chat models allow: A-Za-z0-9_-")
        known, unanswered = self._read_answers(), dict[str, str]()
        slots = asyncio.Semaphore(self.endpoint.concurrency)
        async with httpx2.AsyncClient(timeout=self.endpoint.timeout, headers=self._headers()) as client:

            async def ask(case: Case) -> CaseResult | None:
                body = self._body(tools, case)
                key = chat_protocol.digest(body)
                async with slots:
                    try:
                        if key not in known:
                            known[key] = await self._send_with_retries(client, body)
                            self._save_answer(key, case, known[key])
                    except _TemporaryFailure as error:
                        unanswered[case.utterance] = str(error)
                        return None
                    finally:
                        self.on_answer()
                return _case_result(case, known[key], names)

            found = await _run_all(ask, cases)
        return SelectorResult(self.name, [one for one in found if one is not None], unanswered=unanswered)

    # ---- one request -----------------------------------------------------------------------------

    async def _send_with_retries(self, client: httpx2.AsyncClient, body: Mapping[str, Any]) -> dict[str, Any]:
        attempt = 0
        while True:
            wait = self._not_before - time.monotonic()
            if wait > 0:
                await self.sleep(wait)
            try:
                return await self._send(client, body)
            except _TemporaryFailure as error:
                if attempt == self.endpoint.retries:
                    raise
                await self._back_off(error.wait, attempt)
                attempt += 1

    async def _back_off(self, wanted: float | None, attempt: int) -> None:
        if wanted is None:
            await self.sleep(min(2.0**attempt, 60.0) * self.dice.uniform(0.5, 1.0))
        else:
            # The limit applies to the account, so all requests wait, not only this one.
            self._not_before = max(self._not_before, time.monotonic() + min(wanted, _MAX_WAIT))

    async def _send(self, client: httpx2.AsyncClient, body: Mapping[str, Any]) -> dict[str, Any]:
        try:
            response = await client.post(f"{self.endpoint.url.rstrip('/')}/chat/completions", json=body)
        except httpx2.TimeoutException:
            raise _TemporaryFailure(f"no response within {self.endpoint.timeout:g} s") from None
        except httpx2.TransportError as error:
            raise _TemporaryFailure(
                f"{self.endpoint.url} cannot be reached: {str(error) or type(error).__name__}"
            ) from None
        status, text = response.status_code, response.text
        if status in _TEMPORARY:
            wait = chat_protocol.retry_after(response.headers.get("retry-after", ""))
            raise _TemporaryFailure(f"HTTP {status}: {chat_protocol.error_message(text)}", wait)
        if status != _OK:
            raise ChatFailed(f"{self.endpoint.url} refused with HTTP {status}: {chat_protocol.error_message(text)}")
        try:
            return chat_protocol.parse_completion(json.loads(text))
        except (ValueError, LookupError, TypeError, AttributeError):
            raise _TemporaryFailure(f"the response is not a chat completion: {text[:100]!r}") from None

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.endpoint.key}"} if self.endpoint.key else {}

    def _body(self, tools: Sequence[ListedTool], case: Case) -> dict[str, Any]:
        return chat_protocol.build_request(self.endpoint.model, tools, case.utterance, self.endpoint.temperature)

    # ---- the file --------------------------------------------------------------------------------

    def _read_answers(self) -> dict[str, dict[str, Any]]:
        if not self.answers.exists():
            return {}
        text = self.answers.read_text(encoding="utf-8")
        if text and not text.endswith("\n"):
            with self.answers.open("a", encoding="utf-8") as file:
                file.write("\n")  # the next answer must not be appended to half a line
        found: dict[str, dict[str, Any]] = {}
        for line in text.splitlines():
            try:
                entry = json.loads(line)
                found[entry["key"]] = entry
            except (ValueError, LookupError, TypeError):
                continue  # a line that was not written completely when a run ended; the case is asked again
        return found

    def _save_answer(self, key: str, case: Case, answer: Mapping[str, Any]) -> None:
        with self.answers.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "utterance": case.utterance, **answer}, ensure_ascii=False) + "\n")


async def _run_all(
    ask: Callable[[Case], Coroutine[Any, Any, CaseResult | None]], cases: Sequence[Case]
) -> list[CaseResult | None]:
    """Ask about all cases concurrently. A failure ends the run."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(case)) for case in cases]
    except* ChatFailed as failures:
        raise ChatFailed(str(failures.exceptions[0])) from None
    return [task.result() for task in tasks]


def _case_result(case: Case, answer: Mapping[str, Any], names: Mapping[str, str]) -> CaseResult:
    tool = answer["tool"]
    # A name that the model made up is kept, and counts as wrong.
    return CaseResult(case, None if tool is None else names.get(tool, tool), arguments=answer["arguments"])
