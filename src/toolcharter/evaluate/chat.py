"""A chat model behind any OpenAI-compatible endpoint: it is shown the tools and a request, and calls one or none."""

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate import chat_messages
from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.outcome import Outcome, Result

_LETTERS_PER_TOKEN = 4  # what is usual for English and JSON
_TOKENS_OUT = 60  # a call with a few arguments
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_LONGEST_WAIT = 120.0
_OK = 200


class CannotAsk(Exception):
    """The endpoint refuses, and would refuse every further request."""


class _MayPass(Exception):
    """A failure that may pass. `wait` is what the endpoint asked for."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask, and how."""

    url: str
    model: str
    key: str | None = None
    timeout: float = 60.0
    retries: int = 5
    at_once: int = 4
    temperature: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would take."""

    requests: int
    tokens_in: int
    tokens_out: int

    def cost(self, price_in: float, price_out: float) -> float:
        """At prices for a million tokens."""
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1_000_000


@dataclass
class Selector:
    """Answers are appended to a file as they come; what stands there already is not asked again."""

    endpoint: Endpoint
    answers: Path
    told: Callable[[], None] | None = None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    dice: random.Random = field(default_factory=random.Random)
    _not_before: float = 0.0

    @property
    def name(self) -> str:
        """The model, since that is what is measured."""
        return f"chat:{self.endpoint.model}"

    def estimate(self, tools: Sequence[ListedTool], cases: Sequence[Case]) -> Estimate:
        """Tokens of the requests that are still missing, by their length."""
        known = self._known()
        bodies = [self._body(tools, case) for case in cases]
        missing = [body for body in bodies if chat_messages.digest(body) not in known]
        letters = sum(len(json.dumps(body)) for body in missing)
        return Estimate(len(missing), letters // _LETTERS_PER_TOKEN, _TOKENS_OUT * len(missing))

    async def select(self, tools: Sequence[ListedTool], cases: Sequence[Case]) -> Result:
        """Ask about every case. One that gets no answer is reported as such, never as `none`."""
        names = {chat_messages.wire_name(tool.name): tool.name for tool in tools}
        if len(names) < len({tool.name for tool in tools}):
            raise CannotAsk("Two tools have the same name once it is written as chat models want it: A-Z a-z 0-9 _ -.")
        known, unanswered = self._known(), dict[str, str]()
        places = asyncio.Semaphore(self.endpoint.at_once)
        async with httpx2.AsyncClient(timeout=self.endpoint.timeout, headers=self._headers()) as client:

            async def ask(case: Case) -> Outcome | None:
                body = self._body(tools, case)
                key = chat_messages.digest(body)
                async with places:
                    try:
                        if key not in known:
                            known[key] = await self._ask(client, body)
                            self._keep(key, case, known[key])
                    except _MayPass as error:
                        unanswered[case.utterance] = str(error)
                        return None
                    finally:
                        self._tell()
                return _outcome(case, known[key], names)

            found = await _all(ask, cases)
        return Result(self.name, [one for one in found if one is not None], unanswered=unanswered)

    # ---- one request -----------------------------------------------------------------------------

    async def _ask(self, client: httpx2.AsyncClient, body: Mapping[str, Any]) -> dict[str, Any]:
        attempt = 0
        while True:
            wait = self._not_before - time.monotonic()
            if wait > 0:
                await self.sleep(wait)
            try:
                return await self._once(client, body)
            except _MayPass as error:
                if attempt == self.endpoint.retries:
                    raise
                await self._back_off(error.wait, attempt)
                attempt += 1

    async def _back_off(self, wanted: float | None, attempt: int) -> None:
        if wanted is None:
            await self.sleep(min(2.0**attempt, 60.0) * self.dice.uniform(0.5, 1.0))
        else:
            # The limit is the account's, so all requests wait for it, not only this one.
            self._not_before = max(self._not_before, time.monotonic() + min(wanted, _LONGEST_WAIT))

    async def _once(self, client: httpx2.AsyncClient, body: Mapping[str, Any]) -> dict[str, Any]:
        try:
            response = await client.post(f"{self.endpoint.url.rstrip('/')}/chat/completions", json=body)
        except httpx2.TimeoutException:
            raise _MayPass(f"no answer within {self.endpoint.timeout:g} s") from None
        except httpx2.TransportError as error:
            raise _MayPass(f"{self.endpoint.url} cannot be reached: {str(error) or type(error).__name__}") from None
        status, text = response.status_code, response.text
        if status in _PASSING:
            wait = chat_messages.retry_after(response.headers.get("retry-after", ""))
            raise _MayPass(f"HTTP {status}: {chat_messages.reason(text)}", wait)
        if status != _OK:
            raise CannotAsk(f"{self.endpoint.url} refuses with HTTP {status}: {chat_messages.reason(text)}")
        try:
            return chat_messages.answer(json.loads(text))
        except (ValueError, LookupError, TypeError, AttributeError):
            raise _MayPass(f"an answer that is no chat completion: {text[:100]!r}") from None

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.endpoint.key}"} if self.endpoint.key else {}

    def _body(self, tools: Sequence[ListedTool], case: Case) -> dict[str, Any]:
        return chat_messages.request(self.endpoint.model, tools, case.utterance, self.endpoint.temperature)

    def _tell(self) -> None:
        if self.told is not None:
            self.told()

    # ---- the file --------------------------------------------------------------------------------

    def _known(self) -> dict[str, dict[str, Any]]:
        if not self.answers.exists():
            return {}
        text = self.answers.read_text(encoding="utf-8")
        if text and not text.endswith("\n"):
            with self.answers.open("a", encoding="utf-8") as file:
                file.write("\n")  # the next answer must not stand behind half a line
        found: dict[str, dict[str, Any]] = {}
        for line in text.splitlines():
            try:
                entry = json.loads(line)
                found[entry["key"]] = entry
            except (ValueError, LookupError, TypeError):
                continue  # a line that was being written when the run was ended; it is asked again
        return found

    def _keep(self, key: str, case: Case, answer: Mapping[str, Any]) -> None:
        with self.answers.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "utterance": case.utterance, **answer}, ensure_ascii=False) + "\n")


async def _all(ask: Callable[[Case], Awaitable[Outcome | None]], cases: Sequence[Case]) -> list[Outcome | None]:
    """Ask at the same time. A refusal ends all of it."""

    async def one(case: Case) -> Outcome | None:
        return await ask(case)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(case)) for case in cases]
    except* CannotAsk as refused:
        raise CannotAsk(str(refused.exceptions[0])) from None
    return [task.result() for task in tasks]


def _outcome(case: Case, answer: Mapping[str, Any], names: Mapping[str, str]) -> Outcome:
    tool = answer["tool"]
    # A tool that the model made up stays under its made-up name, and is wrong.
    return Outcome(case, None if tool is None else names.get(tool, tool), arguments=answer["arguments"])
