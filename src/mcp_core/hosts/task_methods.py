"""Requests about calls that have become tasks, as the protocol writes them: for the fast path and the SDK's server."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from mcp_core.app import App
from mcp_core.calling.records import Answer
from mcp_core.calling.requests import Sender
from mcp_core.errors import ElicitationUnsupported, ForgedReply, Refused, ToolError
from mcp_core.hosts.names import INTERNAL_ERROR, INVALID_PARAMS, TASK_PROGRESS
from mcp_core.hosts.protocol import Peer, RpcError, invalid_params, needs_tasks, protocol_error
from mcp_core.state.interface import StateUnavailable
from mcp_core.text.json_text import JsonObject

if TYPE_CHECKING:
    from mcp_core.tasks.record import TaskRecord

ACTIONS = frozenset({"accept", "decline", "cancel"})
MIN_POLL_SECONDS, MAX_POLL_SECONDS = 1.0, 10.0
_POLLS = 10
"""About how often a client looks while the age of a task doubles."""


def created(task: "TaskRecord") -> JsonObject:
    """The answer to a call that has become a task."""
    return {**_fields(task), "resultType": "task"}


async def answer(app: App, method: str, params: Mapping[str, Any], peer: Peer) -> JsonObject:
    """The result of tasks/get, tasks/update or tasks/cancel. Raises RpcError."""
    sender, name = Sender(peer.caller.key, f"{peer.agent_id} {peer.agent_version}"), None
    try:
        if not peer.takes_tasks:
            raise needs_tasks("Missing required client capability: this request is about a task.")
        number, responses = params.get("taskId"), params.get("inputResponses", {})
        if not isinstance(number, str) or not isinstance(responses, dict):
            raise invalid_params()
        task = await find(app, number, peer)
        name = task.tool
        if method == "tasks/update":
            await app.tasks.answer(task, _answers(task, cast(JsonObject, responses)))
        elif method == "tasks/cancel":
            await app.tasks.cancel(task)
    except RpcError as error:
        outcome = "system" if error.code == INTERNAL_ERROR else "validation"
        app.requests.record(method, outcome, sender, name=name, error=error.message)
        raise
    except (ToolError, StateUnavailable) as error:
        app.requests.record(method, "system", sender, name=name, error=str(error))
        raise RpcError(INTERNAL_ERROR, "Tasks cannot be reached right now. Try again.") from error
    app.requests.record(method, "ok", sender, name=name, meta=peer.trace_ids or {})
    return {**(status(task) if method == "tasks/get" else {}), "resultType": "complete"}


def _answers(task: "TaskRecord", responses: JsonObject) -> JsonObject:
    """The answers to what is asked at the moment; others may have any shape."""
    answers = {name: response for name, response in responses.items() if name in (task.questions or {})}
    for name, response in answers.items():
        if not isinstance(response, dict) or response.get("action") not in ACTIONS:  # pyright: ignore[reportUnknownMemberType]
            raise RpcError(INVALID_PARAMS, f"inputResponses: {name}: action must be accept, decline or cancel.")
    return answers


async def find(app: App, number: str, peer: Peer) -> "TaskRecord":
    """The task of a client, which may still use its tool. Raises RpcError."""
    task = await app.tasks.find(number, peer.request("", None, {}))
    if task is None:
        raise RpcError(INVALID_PARAMS, f"No task {number[:64]!r} exists here for this caller; it may have expired.")
    spec = app.registry.find(task.tool)
    if spec is not None and (missing := peer.caller.lacks(spec.permissions)):
        raise RpcError(INVALID_PARAMS, f"This task needs the permission {', '.join(missing)}, which this caller lost.")
    return task


def status(task: "TaskRecord") -> JsonObject:
    """A task with what its status brings: questions, a result or an error."""
    fields = _fields(task)
    if task.questions:
        fields["inputRequests"] = {
            name: {"method": "elicitation/create", "params": dict(asked)} for name, asked in task.questions.items()
        }
    if task.status == "completed":
        fields["result"] = _result(_outcome(task))
    elif task.status == "failed":
        fields["error"] = _error(task)
    if task.progress is not None:
        done, total = task.progress
        fields["_meta"] = {TASK_PROGRESS: {"progress": done} | ({} if total is None else {"total": total})}
    return fields


def _fields(task: "TaskRecord") -> JsonObject:
    from mcp_core.calling.stages.observe import utc_time  # noqa: PLC0415 - 8 ms, loaded with the pipeline

    message = {} if task.message is None else {"statusMessage": task.message}
    poll = min(MAX_POLL_SECONDS, max(MIN_POLL_SECONDS, (task.updated - task.created) / _POLLS))
    return {
        "taskId": task.id,
        "status": task.status,
        **message,
        "createdAt": utc_time(task.created),
        "lastUpdatedAt": utc_time(task.updated),
        "ttlMs": int((task.expires - task.created) * 1000),
        "pollIntervalMs": int(poll * 1000),
    }


def _outcome(task: "TaskRecord") -> Any:
    from mcp_core.calling.people import outcomes  # noqa: PLC0415 - loaded with the first task

    return outcomes.from_text(task.outcome or "")


def _result(given: Answer) -> JsonObject:
    result: JsonObject = {"content": given.content(), "isError": given.is_error, "resultType": "complete"}
    if given.structured_json is not None:
        result["structuredContent"] = given.structured
    if given.meta:
        result["_meta"] = dict(given.meta)
    return result


def _error(task: "TaskRecord") -> JsonObject:
    """The protocol error of a call, or that nobody knows how it ended."""
    error = RpcError(INTERNAL_ERROR, task.message or "The task failed.", {"reason": "outcome_unknown"})
    if task.outcome is not None:
        try:
            _outcome(task)
        except (ElicitationUnsupported, ForgedReply, Refused) as raised:
            error = protocol_error(raised)
    return {"code": error.code, "message": error.message} | ({} if error.data is None else {"data": error.data})
