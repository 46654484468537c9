"""Step 10: a result that breaks the declaration of its tool does not leave the server."""

from collections.abc import Sequence
from types import CoroutineType, NoneType
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import SchemaValidator

from mcp_core.calling.bound import BoundTool
from mcp_core.calling.records import Permit, VerbatimResult
from mcp_core.calling.stages.hint import HintPolicy, hint_failure, hint_success
from mcp_core.content.blocks import InvalidContent, TextOrBlock, in_words, is_content, write_blocks
from mcp_core.declare.spec import ToolSpec
from mcp_core.errors import BrokenResult, ErrorKind
from mcp_core.result import Body, Failure, Result
from mcp_core.text import json_text
from mcp_core.tool_result import ToolResult


def check(raw: Any, permit: Permit, tool: BoundTool, policy: HintPolicy | None) -> Body:
    """The result as checked JSON. `policy` is None for servers that answer without hints."""
    value, hints, message, instruction, blocks, content = raw, None, None, None, "", ()
    is_alone = False
    if isinstance(raw, VerbatimResult):
        return _verbatim(raw)
    if isinstance(raw, Result):
        result = cast(Result[Any], raw)
        _check_texts(result.error, result.error_type, result.message, result.instruction)
        if result.is_failure():
            return _returned_failure(result, tool.spec, policy)
        value, hints, message, instruction = result.value, result.hints, result.message, result.instruction
        content = result.content
    elif isinstance(raw, ToolResult):
        value, hints = cast(ToolResult[Any], raw).data, cast(ToolResult[Any], raw).agent_hints
    elif raw is None:
        _check_promises_nothing(tool.spec)
    if tool.returns is not None and (value is not None or tool.requires_value):
        _check_value(value, tool.returns)
    if content:
        blocks, is_alone = _blocks(content), value is None
        value = in_words(content) if is_alone else value
    try:
        data = tool.write(value)
    except TypeError as error:
        return check(_as_content(raw, value, error), permit, tool, policy)
    if data == "null" and policy is not None:
        raise BrokenResult("returned a success without data; a server with hints never answers null")
    hints_json = None if policy is None else hint_success(hints, permit, value, policy)
    return Body(data, message=message, instruction=instruction, hints=hints_json, blocks=blocks, is_content=is_alone)


def _check_promises_nothing(spec: ToolSpec) -> None:
    if spec.signature.returns is not NoneType:
        raise BrokenResult("returned None; return a value, or Result.ok() for a success without one")


def _as_content(raw: Any, value: Any, error: TypeError) -> Result[Any]:
    """The result of a handler whose value is content blocks. Raises BrokenResult for a value without a JSON form."""
    if not is_content(value):
        raise _not_awaited(value) or BrokenResult(f"returned a value without a JSON form: {error}") from error
    content = list(cast(Sequence[TextOrBlock], value)) if isinstance(value, list | tuple) else [value]
    if isinstance(raw, ToolResult):
        return Result[Any].ok(None, hints=cast(ToolResult[Any], raw).agent_hints, content=content)
    result = cast(Result[Any], raw) if isinstance(raw, Result) else Result[Any]()
    return Result[Any].ok(None, result.message, result.instruction, result.hints, [*content, *result.content])


def _blocks(content: Sequence[TextOrBlock]) -> str:
    """Content blocks as JSON, with commas between them."""
    try:
        return json_text.to_text(write_blocks(content))[1:-1]
    except InvalidContent as error:
        raise BrokenResult(f"returned {error}") from None


def _verbatim(result: VerbatimResult) -> Body:
    blocks = json_text.to_bytes(list(result.content))[1:-1].decode()
    data = None if result.structured is None else json_text.to_text(dict(result.structured))
    failure = None if result.error is None else Failure(result.error, "ToolError", "business")
    meta = json_text.to_text(dict(result.meta)) if result.meta else None
    return Body(data, failure, blocks=blocks, verbatim=True, meta=meta)


def _check_texts(*texts: Any) -> None:
    for text in texts:
        if text is not None and not isinstance(text, str):
            raise BrokenResult(f"returned a Result with {type(text).__name__} in place of a text")


def _check_value(value: Any, declared: SchemaValidator) -> None:
    try:
        declared.validate_python(value, strict=True)
    except ValidationError as error:
        if (forgotten := _not_awaited(value)) is not None:
            raise forgotten from None
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the value"
        problem = f"returned {type(value).__name__}, which is not what it declares: {place}: {first['msg']}"
        if value is None:
            problem += ". If it returns images or other content, annotate it with them, such as list[str | Image]"
        raise BrokenResult(problem) from None


def _not_awaited(value: Any) -> BrokenResult | None:
    """The error for a handler that returns a coroutine: an await was forgotten."""
    if not isinstance(value, CoroutineType):
        return None
    call = cast(Any, value)
    call.close()
    return BrokenResult(f"returned a call of {call.__name__} that did not run; write `await {call.__name__}(...)`")


def _returned_failure(result: Result[Any], spec: ToolSpec, policy: HintPolicy | None) -> Body:
    """A failure that the handler returned. The text of its exception is left out."""
    exception = result.exception
    kind: ErrorKind = "validation" if result.error_type == "ValidationError" else "business"
    failure = Failure(
        error=cast(str, result.error),
        error_type=cast(str, result.error_type),
        kind=kind,
        exception_type=type(exception).__name__ if isinstance(exception, BaseException) else None,
    )
    hints = None if policy is None else hint_failure(result.hints, failure, spec, policy)
    return Body(failure=failure, message=result.message, instruction=result.instruction, hints=hints)
