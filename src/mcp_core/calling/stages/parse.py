"""Step 6: validates the arguments, or explains what to fix in them."""

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticSerializationError, from_json, to_json

from mcp_core import instructions
from mcp_core.auth import Caller
from mcp_core.calling.bound import BoundTool
from mcp_core.calling.stages.record import CallRecord
from mcp_core.calling.stages.size import SMALL, Excess, find_excess
from mcp_core.declare.charter import CONSENT_FIELD
from mcp_core.declare.schema import models_in_type
from mcp_core.declare.spec import ToolSpec
from mcp_core.errors import InvalidArguments
from mcp_core.mcp_log import REDACTED, is_secret_name, redact_text

if TYPE_CHECKING:
    from mcp_core.calling.corrections import Correction

_NUL = rb"\u0000"
"""As JSON writes it. File names, headers and some databases cannot hold it."""
_MAX_ERRORS = 8
_MAX_BUILT = 1000
"""Pydantic builds all errors or none. Each of them costs about 10 microseconds and 1 KB."""
_MAX_QUOTE_LENGTH = 60
_MAX_CALL_LENGTH = 1000
_MAX_CORRECTED_LENGTH = 50_000
ANYBODY = Caller("")
"""A caller of whom nothing is known."""
_UNKNOWN = "extra_forbidden"
"""Pydantic's name for an argument that does not exist."""


def parse(
    tool: BoundTool, arguments: Mapping[str, Any], record: CallRecord, caller: Caller = ANYBODY
) -> tuple[BaseModel, str]:
    """The validated arguments, and their JSON with sorted names.

    They are read from JSON, so that they share nothing with the request, and strictly, so that "5" is not 5.
    """
    try:
        text = to_json(dict(sorted(arguments.items())))
        if b"NaN" in text or b"Infinity" in text:
            from_json(text, allow_inf_nan=False)
        if _NUL in text and _NUL in text.replace(b"\\\\", b""):
            raise ValueError("NUL")
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise InvalidArguments(
            "The arguments are not valid JSON: text with half a character (a lone surrogate) or a NUL character, a "
            "number that is NaN or infinite, or nesting that is too deep. Send plain UTF-8 text, finite numbers and "
            "flatter values."
        ) from error
    if len(text) > SMALL and (excess := find_excess(arguments, tool.spec.input_schema)):
        raise _explain_excess(tool, excess)
    try:
        return tool.validator.validate_json(text, strict=True), text.decode()
    except ValidationError as error:
        correction = _correction(tool.spec, arguments, caller) if len(text) <= _MAX_CORRECTED_LENGTH else None
        return _correct(tool, correction, error, record)


def _correction(spec: ToolSpec, arguments: Mapping[str, Any], caller: Caller) -> "Correction | None":
    from mcp_core.calling.corrections import correct  # noqa: PLC0415 - only where arguments are not valid

    return correct(spec, arguments, caller)


def _correct(
    tool: BoundTool, correction: "Correction | None", error: ValidationError, record: CallRecord
) -> tuple[BaseModel, str]:
    """The arguments as they were meant, where they can be read in one way and the tool destroys nothing.

    For a tool that may destroy, the error has the corrected call.
    """
    if correction is None:
        raise _explain(tool, error) from None
    text = to_json(dict(sorted(correction.arguments.items())))
    try:
        valid = tool.validator.validate_json(text, strict=True)
    except ValidationError as rest:
        raise _explain(tool, error if tool.spec.destructive else rest) from None
    if tool.spec.destructive:
        raise _explain(tool, error, _call_to_copy(tool, text.decode())) from None
    secret = tool.spec.secret_fields
    record.notes = "Note: some arguments were corrected." if secret else f"Note: {'; '.join(correction.notes)}."
    return valid, text.decode()


def _call_to_copy(tool: BoundTool, arguments_json: str) -> str:
    """The corrected call in words; empty where a secret may be in it, or it is long."""
    if tool.spec.secret_fields or len(arguments_json) > _MAX_CALL_LENGTH:
        return ""
    return f" Corrected call: {tool.final_name} {arguments_json}"


def _explain_excess(tool: BoundTool, excess: Excess) -> InvalidArguments:
    fields = tuple(str(name)[:_MAX_QUOTE_LENGTH] for name in excess.place[:1])
    declared = tool.spec.declaration.error_messages or {}
    if fields and (message := declared.get(f"{fields[0]}.too_long") or declared.get(fields[0])):
        return InvalidArguments(message, fields=fields)
    place = ".".join(str(part)[:_MAX_QUOTE_LENGTH] for part in excess.place)
    line = f"{place}: {excess.message}" if place else excess.message
    return InvalidArguments(f"Invalid arguments for {tool.final_name!r}: {line}.", fields=fields)


def _explain(tool: BoundTool, error: ValidationError, corrected: str = "") -> InvalidArguments:
    if error.error_count() > _MAX_BUILT:
        problem = f"{error.error_count()} values are not valid, which is too many to list"
        return InvalidArguments(f"Invalid arguments for {tool.final_name!r}: {problem}. Compare them with the schema.")
    details = _without_null(error.errors(include_url=False, include_context=False))
    fields = dict.fromkeys(str(d["loc"][0])[:_MAX_QUOTE_LENGTH] for d in details[:_MAX_ERRORS] if d["loc"])
    # A misspelled argument is missing too; the message for a missing one would not say why.
    is_misspelled = any(detail["type"] == _UNKNOWN for detail in details)
    if not is_misspelled and (message := _declared_message(tool.spec, details)):
        return InvalidArguments(message + corrected, fields=tuple(fields))
    lines = [_line(tool.spec, detail) for detail in details[:_MAX_ERRORS]]
    if len(details) > _MAX_ERRORS:
        lines.append(f"and {len(details) - _MAX_ERRORS} more")
    # An agent that is asked to correct the arguments would add the literal that states the user's request.
    is_consent = any(_is_consent(tool.spec, detail) for detail in details[:_MAX_ERRORS])
    instruction = instructions.REQUIRE_CONSENT if is_consent else None
    return InvalidArguments(
        f"Invalid arguments for {tool.final_name!r}: {'; '.join(lines)}.{corrected}",
        fields=tuple(fields),
        instruction=instruction,
        lacks_consent=is_consent,
    )


def _without_null(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """The errors of values that may also be null, without the error that they are not null."""
    nullable = {d["loc"][:-1] for d in details if d["type"] == "none_required" and d["loc"][-1:] == ("none",)}
    if not nullable:
        return details
    kept: list[ErrorDetails] = []
    for detail in details:
        loc = detail["loc"]
        # After the path of such a value comes pydantic's own name for its type.
        tag = next((length for length in range(len(loc)) if loc[:length] in nullable), None)
        if detail["type"] != "none_required":
            kept.append(detail if tag is None else {**detail, "loc": (*loc[:tag], *loc[tag + 1 :])})
    return kept


def _declared_message(spec: ToolSpec, details: list[ErrorDetails]) -> str | None:
    """The message that the tool declares for one of these errors."""
    declared = spec.declaration.error_messages or {}
    errors = [(str(detail["loc"][0]), detail["type"]) for detail in details if declared and detail["loc"]]
    messages = (declared.get(f"{name}.{kind}") or declared.get(name) for name, kind in errors)
    return next(filter(None, messages), None)


def _line(spec: ToolSpec, detail: ErrorDetails) -> str:
    place = ".".join(str(part)[:_MAX_QUOTE_LENGTH] for part in detail["loc"])
    if detail["type"] == _UNKNOWN:
        return f"{place}: {_not_known(spec, detail['loc'])}"
    if detail["loc"][-1:] == (CONSENT_FIELD,):
        return f"{place}: the user must ask for exactly this action; do not set it without their request"
    if detail["type"] == "missing":
        inner = [name for name in _required_at(spec.parameters, detail["loc"]) if name != CONSENT_FIELD]
        needs = f"; it needs {', '.join(inner)}" if inner else ""
        return f"{place}: is required, but missing{needs}"
    message = detail["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    if not place:
        return message
    secret = detail["loc"][0] in spec.secret_fields or any(is_secret_name(str(part)) for part in detail["loc"])
    return f"{place}: {message}, got {REDACTED if secret else redact_text(_quote(detail['input']))}"


def _is_consent(spec: ToolSpec, detail: ErrorDetails) -> bool:
    """Whether an error is about the literal that states the user's request, or about an object that needs it."""
    if detail["type"] == "missing" and CONSENT_FIELD in _required_at(spec.parameters, detail["loc"]):
        return True
    return detail["loc"][-1:] == (CONSENT_FIELD,) and detail["type"] != _UNKNOWN


def _required_at(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """The required arguments of the object at a place; none if no object belongs there."""
    for part in place:
        field = next((f for name, f in model.model_fields.items() if part in (name, f.alias)), None)
        inner = None if field is None else next(models_in_type(field.annotation), None)
        if inner is None:
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items() if field.is_required()]


def _not_known(spec: ToolSpec, place: tuple[int | str, ...]) -> str:
    """The message about an argument that does not exist: where it belongs, or those that do and the nearest of them."""
    from mcp_core.calling.corrections import targets  # noqa: PLC0415 - only where arguments are not valid

    path = tuple(map(str, place[:-1]))
    if found := [target for target in targets(spec, path, str(place[-1])) if target[:-1] != path]:
        return f"belongs into {' or '.join(_parent(target) for target in found[:3])}"
    names = list(_names_at(spec.parameters, place[:-1]))
    nearest = difflib.get_close_matches(str(place[-1])[:_MAX_QUOTE_LENGTH], names, n=1)
    guess = f" (did you mean {nearest[0]}?)" if nearest and len(names) > 1 else ""
    return f"is not an argument here; it takes {', '.join(names) or 'no arguments'}{guess}"


def _parent(target: tuple[str, ...]) -> str:
    return ".".join(target[:-1]) or f"the arguments, as {target[-1]}"


def _names_at(model: type[BaseModel], place: tuple[int | str, ...]) -> Iterator[str]:
    """The arguments of a model, or of the model at a place inside it."""
    for part in place:
        field = next((f for name, f in model.model_fields.items() if part in (name, f.alias)), None)
        inner = None if field is None else next(models_in_type(field.annotation), None)
        model = inner or model
    for name, field in model.model_fields.items():
        yield field.alias or name


def _quote(value: Any) -> str:
    if isinstance(value, str) and len(value) > _MAX_QUOTE_LENGTH:
        return f"{json.dumps(value[:_MAX_QUOTE_LENGTH])}... ({len(value)} characters)"
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)} entries"  # pyright: ignore[reportUnknownArgumentType]
    return json.dumps(value, default=repr)[: _MAX_QUOTE_LENGTH * 2]
