"""Step 10: an answer holds what its tool promises, or it does not leave the server."""

from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import SchemaValidator

from mcp_core import json_text
from mcp_core.calling.bound import BoundTool
from mcp_core.calling.records import Body, Failure, Permit
from mcp_core.calling.stages.hint import Names, hint_failure, hint_success
from mcp_core.declare.spec import ToolSpec
from mcp_core.errors import BrokenResult, ErrorKind
from mcp_core.result import Result
from mcp_core.tool_result import ToolResult


def check(raw: Any, permit: Permit, tool: BoundTool, names: Names | None) -> Body:
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
    if tool.returns is not None and (value is not None or tool.structured is not None):
        _conforms(value, tool.returns)
    try:
        data = json_text.to_text(value)
    except TypeError as error:
        raise BrokenResult(f"returned what cannot be answered: {error}") from error
    if data == "null" and names is not None:
        raise BrokenResult("returned a success without data; a hinting server never answers null")
    hints = None if names is None else hint_success(given, permit, value, names)
    return Body(data, None, message, instruction, hints)


def _all_text(*words: Any) -> None:
    for word in words:
        if word is not None and not isinstance(word, str):
            raise BrokenResult(f"returned a Result with {type(word).__name__} where text belongs")


def _conforms(value: Any, declared: SchemaValidator) -> None:
    try:
        declared.validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the value"
        words = f"returned {type(value).__name__}, which is not what it declares: {place}: {first['msg']}"
        raise BrokenResult(words) from None


def _returned_failure(result: Result[Any], spec: ToolSpec, names: Names | None) -> Body:
    """A failure that the handler returned; the text of an exception stays inside."""
    exception = result.exception
    kind: ErrorKind = "validation" if result.error_type == "ValidationError" else "business"
    failure = Failure(
        error=cast(str, result.error),
        error_type=cast(str, result.error_type),
        kind=kind,
        exception_type=type(exception).__name__ if isinstance(exception, BaseException) else None,
    )
    hints = None if names is None else hint_failure(result.hints, failure, spec, names)
    return Body(None, failure, result.message, result.instruction, hints)
