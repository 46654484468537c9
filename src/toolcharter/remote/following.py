"""Follows a call that a server has made a task: reports its progress, answers its questions, cancels it."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NoReturn, cast

import mcp_types as types
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter

from mcp_core.context import ReportProgress
from mcp_core.hosts.names import INTERNAL_ERROR, TASK_PROGRESS, TASKS
from mcp_core.schema.fields import number_at, object_at, string_at
from mcp_core.text.json_text import JsonObject

MIN_POLL_SECONDS, MAX_POLL_SECONDS = 0.1, 10.0
CANCEL_SECONDS = 2.0
"""How long a server may take to cancel a task, before we leave it alone."""
_QUESTION: TypeAdapter[types.ElicitRequestParams] = TypeAdapter(types.ElicitRequestParams)
_ANY_RESULT: TypeAdapter[Any] = TypeAdapter(JsonObject)

AnswerQuestion = Callable[[types.ElicitRequestParams], Awaitable[types.ElicitResult]]


class _TaskCreated(types.Result):
    """The answer to a call that has become a task."""

    result_type: Literal["task"] = "task"
    task_id: str


class _TaskRequest(types.Request[dict[str, Any], str]):
    """A request about a task."""

    name_param = "taskId"


class FollowsTasks(ClientExtension):
    """The client's side of the extension: a call ends when its task does."""

    identifier = TASKS

    def __init__(self, answer: AnswerQuestion, seconds: float | None) -> None:
        """A task is followed for so many seconds; without a number, as long as it runs."""
        self._answer, self._seconds = answer, seconds
        self.progress: ReportProgress | None = None
        """Called with what the task of the present call reports."""

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """The answer that is a task."""
        return [ResultClaim(result_type="task", model=_TaskCreated, resolve=self._follow)]

    async def _follow(self, created: _TaskCreated, context: ClaimContext) -> types.CallToolResult:
        """Follow a task to its end. A task that is not followed any more is cancelled."""
        task = _Task(created.task_id, context.session)
        try:
            async with asyncio.timeout(self._seconds):
                return await self._result(task)
        except (asyncio.CancelledError, TimeoutError):
            with suppress(MCPError, TimeoutError):
                async with asyncio.timeout(CANCEL_SECONDS):
                    await task.request("tasks/cancel")
            raise

    async def _result(self, task: "_Task") -> types.CallToolResult:
        answered: set[str] = set()
        reported: object = None
        while True:
            state = await task.request("tasks/get")
            match state.get("status"):
                case "completed":
                    return types.CallToolResult.model_validate(object_at(state, "result"))
                case "failed":
                    _fail(state)
                case "cancelled":
                    message = string_at(state, "statusMessage")
                    raise MCPError(INTERNAL_ERROR, f"The task was cancelled. {message}".strip())
                case _:
                    pass
            progress = _progress(state)
            if progress != reported and any(progress) and self.progress is not None:
                await self.progress(*progress)
            reported = progress
            questions = object_at(state, "inputRequests")
            responses = {name: await self._respond(questions[name]) for name in questions.keys() - answered}
            if responses:
                answered |= responses.keys()
                await task.request("tasks/update", inputResponses=responses)
            await asyncio.sleep(MIN_POLL_SECONDS if responses else _poll_seconds(state))

    async def _respond(self, asked: Any) -> JsonObject:
        params = object_at(cast(Mapping[str, Any], asked), "params") if isinstance(asked, dict) else {}
        answer = await self._answer(_QUESTION.validate_python(params))
        return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


class _Task:
    """A task of a server."""

    def __init__(self, number: str, session: ClientSession) -> None:
        self._number, self._session = number, session

    async def request(self, method: str, **params: Any) -> JsonObject:
        request = _TaskRequest(method=method, params={"taskId": self._number, **params})
        return await self._session.send_request(request, _ANY_RESULT)


def _poll_seconds(state: JsonObject) -> float:
    seconds = (number_at(state, "pollIntervalMs") or 1000) / 1000
    return min(MAX_POLL_SECONDS, max(MIN_POLL_SECONDS, seconds)) if math.isfinite(seconds) else MAX_POLL_SECONDS


def _progress(state: JsonObject) -> tuple[float, float | None, str | None]:
    """How much is done, of how much, and the status message."""
    amount = object_at(object_at(state, "_meta"), TASK_PROGRESS)
    return number_at(amount, "progress") or 0, number_at(amount, "total"), string_at(state, "statusMessage") or None


def _fail(state: JsonObject) -> NoReturn:
    error = object_at(state, "error")
    message = string_at(error, "message") or string_at(state, "statusMessage") or "The task failed."
    code = error.get("code")
    raise MCPError(code if isinstance(code, int) else INTERNAL_ERROR, message)
