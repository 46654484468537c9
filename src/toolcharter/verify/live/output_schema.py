from collections.abc import Iterable
from importlib import import_module
from typing import Any

from toolcharter.verify.observed import Exchange, Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Schema, Server

_CLIENT = ("Invalid structured content returned by tool", "has an output schema but did not return structured content")
"""What the client of the MCP library says when it finds the same before we can."""


def check(server: Server, observed: Observed) -> Iterable[Found]:
    for tool, exchanges in observed.by_tool():
        listed = server.by_name[tool].listed
        for exchange in exchanges:
            message = _mismatch(exchange, listed.output_schema) if listed.output_schema is not None else None
            if message:
                yield Found(f"the answer to {exchange.sent} does not fit: {message[:160]}", "outputSchema", tool)
                break


def is_about_output(exchange: Exchange) -> bool:
    """Whether a call has no answer because the client refused it for its output schema."""
    return any(words in exchange.failure for words in _CLIENT)


def _mismatch(exchange: Exchange, schema: Schema) -> str | None:
    if is_about_output(exchange):
        return exchange.failure.splitlines()[0]
    if exchange.answer is None or exchange.answer.is_error:
        return None
    if exchange.answer.structured is None:
        return "there is no structuredContent"
    return _first_error(exchange.answer.structured, schema)


def _first_error(value: Any, schema: Schema) -> str | None:
    # It comes with the MCP library, and is loaded only where there is an output schema: 0.1 s.
    validators = import_module("jsonschema.validators")
    try:
        error = next(iter(validators.validator_for(schema)(schema).iter_errors(value)), None)
    except Exception as broken:  # noqa: BLE001 - a schema that is none, or refers to nothing, breaks it in many ways
        return f"the schema cannot be used: {broken}"
    return None if error is None else f"{error.json_path}: {error.message}"


RULE = Rule(
    id="LIV009",
    name="answer-against-schema",
    family="live",
    severity="error",
    what="An answer does not fit the output schema of its tool.",
    why="Clients check answers, and throw away those that do not fit. Programs that rely on the schema break.",
    fix="Generate the schema and the answer from one type.",
    check_live=check,
)
