"""Step 10: an answer holds what its tool promises, or it does not leave the server."""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from mcp_core import hints, json_text
from mcp_core.bound import BoundTool
from mcp_core.call import Body, Failure, Permit
from mcp_core.errors import ErrorKind
from mcp_core.hints import AgentHints, HintWarning
from mcp_core.result import Result
from mcp_core.spec import ToolSpec
from mcp_core.tool_result import ToolResult

_LONGEST_ECHO = 2000


class BrokenResult(Exception):
    """A handler returned what its tool does not promise. The message is for the log."""


def check(raw: Any, permit: Permit, tool: BoundTool, names: Mapping[str, str] | None) -> Body:
    """The answer as checked JSON. `names` is given by servers that answer with hints."""
    value, given, message, instruction = raw, None, None, None
    if isinstance(raw, Result):
        result = cast(Result[Any], raw)
        _all_text(result.error, result.error_type, result.message, result.instruction)
        if result.is_failure():
            return _returned_failure(result, tool.spec, names)
        value, given, message, instruction = result.value, result.hints, result.message, result.instruction
    elif isinstance(raw, ToolResult):
        value, given = cast(ToolResult[Any], raw).data, cast(ToolResult[Any], raw).agent_hints
    elif raw is None:
        raise BrokenResult("returned None; return a value, or Result.ok() where there is nothing to say")
    if tool.returns is not None and value is not None:
        _conforms(value, tool)
    try:
        data = json_text.to_text(value)
    except TypeError as error:
        raise BrokenResult(f"returned what cannot be answered: {error}") from error
    if data == "null" and names is not None:
        raise BrokenResult("returned a success without data; a hinting server never answers null")
    hints_json = None if names is None else _hints_json(given, permit, value, tool.spec, names)
    return Body(data, None, message, instruction, hints_json)


def _hints_json(given: AgentHints | None, permit: Permit, value: Any, spec: ToolSpec, names: Mapping[str, str]) -> str:
    if given is None and spec.declaration.hints is not None:
        given = spec.declaration.hints(permit.arguments, value)
    if given is None and isinstance(value, list | tuple):
        given = hints.for_list(len(cast(list[Any], value)))
    if given is None and spec.declaration.deprecated is None:
        return _PLAIN_HINTS
    return _finish_hints(given or hints.for_value(), spec, names).to_json_str()


# A complete answer from the server's own data, with nothing to suggest: the same words each time.
_PLAIN_HINTS = hints.for_value().to_json_str()


def _all_text(*words: Any) -> None:
    for word in words:
        if word is not None and not isinstance(word, str):
            raise BrokenResult(f"returned a Result with {type(word).__name__} where text belongs")


def _conforms(value: Any, tool: BoundTool) -> None:
    try:
        cast(Any, tool.returns).validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the value"
        words = f"returned {type(value).__name__}, which is not what it declares: {place}: {first['msg']}"
        raise BrokenResult(words) from None


def _returned_failure(result: Result[Any], spec: ToolSpec, names: Mapping[str, str] | None) -> Body:
    """A failure that the handler returned; the text of an exception stays inside."""
    exception = result.exception
    kind: ErrorKind = "validation" if result.error_type == "ValidationError" else "business"
    failure = Failure(
        error=cast(str, result.error),
        error_type=cast(str, result.error_type),
        kind=kind,
        exception_type=type(exception).__name__ if isinstance(exception, BaseException) else None,
    )
    shown = None
    if names is not None:
        shown = _finish_hints(result.hints or _hints_of(failure, spec, None, None), spec, names).to_json_str()
    return Body(None, failure, result.message, result.instruction, shown)


def _finish_hints(made: AgentHints, spec: ToolSpec, names: Mapping[str, str]) -> AgentHints:
    if not isinstance(cast(Any, made), AgentHints) or not 0.0 <= made.confidence <= 1.0:
        raise BrokenResult(f"returned hints that break their own structure: {made!r}")
    unknown = [action for action in made.actions() if action not in names]
    if unknown:
        raise BrokenResult(f"returned hints that suggest {', '.join(unknown)}, which is no tool of this server")
    if deprecated := spec.declaration.deprecated:
        fix = f"Call {names.get(deprecated.replacement, deprecated.replacement)} instead."
        sentence = deprecated.sentence()
        made = made.warned(HintWarning(type="deprecation", severity="high", message=sentence, suggested_fix=fix))
    return made.renamed(names)


def failure_hints(
    failure: Failure, spec: ToolSpec, names: Mapping[str, str], arguments: Mapping[str, Any] | None, error: Exception
) -> str:
    """Hints for a call that failed, made from how it failed."""
    return _finish_hints(_hints_of(failure, spec, arguments, error), spec, names).to_json_str()


def _hints_of(
    failure: Failure, spec: ToolSpec, arguments: Mapping[str, Any] | None, error: Exception | None
) -> AgentHints:
    retry = hints.SuggestedAction(action=spec.name, priority="high", data=_ready(arguments))
    match failure.error_type:
        case "ValidationError":
            correction = retry.model_copy(update={"category": "correction", "data": None})
            return hints.for_validation_error(getattr(error, "fields", ()), retry=correction)
        case "PermissionError":
            return hints.for_permission(spec.permissions)
        case "RateLimitError":
            return hints.for_rate_limit(retry, getattr(error, "retry_after", 0.0))
        case "ConsentError":
            return hints.for_consent(spec.name)
        case "NotFoundError":
            return hints.for_not_found()
        case _ if failure.kind == "system":
            return hints.for_system_error(retry if spec.category == "query" else None)
        case _:
            return hints.for_value(evidence=hints.Evidence(completeness=0.0), why="A rule forbids it as things stand.")


def _ready(arguments: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Arguments to call again with: not when they are long, and not when they are no JSON."""
    try:
        return dict(arguments) if arguments and len(to_json(arguments)) <= _LONGEST_ECHO else None
    except (PydanticSerializationError, ValueError):
        return None
