"""What went wrong, as an answer: of a known type, with an instruction, and with nothing that must stay inside."""

import os

from mcp_core.calling.records import Body, Call, Failure
from mcp_core.calling.stages.hint import Names, hint_failure
from mcp_core.calling.stages.observe import secret_values
from mcp_core.errors import BrokenResult, ToolError
from mcp_core.mcp_log import REDACTED, redact_text


def fail(error: Exception, call: Call, names: Names | None) -> Body:
    """The answer to a call that raised. What is not a `ToolError` gets an id, and its words stay in the log."""
    if not isinstance(error, ToolError):
        return _broken(error, call, names)
    failure = Failure(str(error), error.error_type, error.kind)
    try:
        return _body(failure, call, error, names)
    except BrokenResult as broken:
        return _broken(broken, call, names)


def _broken(error: Exception, call: Call, names: Names | None) -> Body:
    error_id = f"err-{os.urandom(6).hex()}"
    if isinstance(error, BrokenResult):
        words, error_type = "gave an answer that breaks its own contract", "ResultError"
    else:
        words, error_type = "failed for a reason that lies with the server", "SystemError"
    text = f"{call.spec.name!r} {words}. Error id {error_id}: the server's log explains it."
    return _body(Failure(text, error_type, "system", error_id), call, ToolError(text), names)


def _body(failure: Failure, call: Call, error: ToolError, names: Names | None) -> Body:
    shown = None
    if names is not None:
        arguments = call.request.arguments if not call.spec.secret_fields else None
        shown = hint_failure(error.hints, failure, call.spec, names, arguments=arguments, error=error)
    return Body(failure=failure, message=error.message, instruction=error.instruction, hints=shown)


def without_secrets(body: Body, failure: Failure, call: Call, *, invoked: bool) -> Body:
    """What a gate says quotes no credential, but may name one; what a handler says may hold anything."""
    secrets = secret_values(call)

    def clean(words: str) -> str:
        if invoked:
            return redact_text(str(words), secrets)
        for secret in secrets:
            words = words.replace(secret, REDACTED)
        return words

    return body._replace(
        failure=failure._replace(error=clean(failure.error)),
        message=None if body.message is None else clean(body.message),
        instruction=None if body.instruction is None else clean(body.instruction),
    )
