"""An exception as an answer: with a known type and an instruction, and without anything internal."""

import os

from mcp_core.calling.records import Call
from mcp_core.calling.stages.hint import HintPolicy, hint_failure
from mcp_core.calling.stages.observe import secret_values
from mcp_core.errors import BrokenResult, ToolError, UnknownTool
from mcp_core.mcp_log import hide_secrets, redact_text
from mcp_core.result import Body, Failure


def fail(error: Exception, call: Call, policy: HintPolicy | None) -> Body:
    """The answer to a call that raised. For other errors than `ToolError` it has an id; the text is in the log."""
    if isinstance(error, UnknownTool):
        return Body(failure=Failure(str(error), type(error).__name__, "validation"))
    if not isinstance(error, ToolError):
        return _broken(error, call, policy)
    failure = Failure(str(error), error.error_type, error.kind)
    try:
        return _body(failure, call, error, policy)
    except BrokenResult as broken:
        return _broken(broken, call, policy)


def _broken(error: Exception, call: Call, policy: HintPolicy | None) -> Body:
    error_id = f"err-{os.urandom(6).hex()}"
    if isinstance(error, BrokenResult):
        reason, error_type = "returned an answer that breaks its own contract", "ResultError"
    else:
        reason, error_type = "failed because of an error in the server", "SystemError"
    text = f"{call.final_name!r} {reason}. Error id {error_id}: the server's log has the details."
    return _body(Failure(text, error_type, "system", error_id), call, ToolError(text), policy)


def _body(failure: Failure, call: Call, error: ToolError, policy: HintPolicy | None) -> Body:
    hints = None
    if policy is not None:
        arguments = call.request.arguments if not call.spec.secret_fields else None
        hints = hint_failure(error.hints, failure, call.spec, policy, arguments=arguments, error=error)
    return Body(failure=failure, message=error.message, instruction=error.instruction, hints=hints)


def without_secrets(body: Body, failure: Failure, call: Call, *, invoked: bool) -> Body:
    """The answer without secrets. The text of a gate holds no credential; the text of a handler may hold any."""
    secrets = secret_values(call)

    def clean(text: str) -> str:
        return redact_text(str(text), secrets) if invoked else hide_secrets(text, secrets)

    return body._replace(
        failure=failure._replace(error=clean(failure.error)),
        message=None if body.message is None else clean(body.message),
        instruction=None if body.instruction is None else clean(body.instruction),
    )
