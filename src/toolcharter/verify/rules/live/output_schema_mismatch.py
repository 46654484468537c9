from collections.abc import Iterable
from typing import Any

from mcp_core.foreign.bounded import run_bounded_sync
from mcp_core.schema.fields import Schema
from toolcharter.verify.live.observations import Exchange, Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

DEADLINE = 2.0
"""Seconds for one result. The schema and the result are the server's, and may need exponential time."""


def check(server: Server, observations: Observations) -> Iterable[Problem]:
    for tool, exchanges in observations.by_tool():
        schema = server.by_name[tool].listed.output_schema
        for exchange in exchanges if schema is not None else ():
            if message := _mismatch(exchange, schema or {}):
                text = f"the result of {exchange.call} does not match: {message[:160]}"
                yield Problem(text, "outputSchema", tool)
                break


def _mismatch(exchange: Exchange, schema: Schema) -> str | None:
    if exchange.answer is None or exchange.answer.is_error:
        return None
    if exchange.answer.structured is None:
        return "it has no structuredContent"
    return _first_error(exchange.answer.structured, schema)


def _first_error(value: Any, schema: Schema) -> str | None:
    try:
        return run_bounded_sync(first_error, value, schema, deadline=DEADLINE)
    except Exception as broken:  # noqa: BLE001 - an invalid schema, or one with a dangling reference, fails in many ways
        return f"the schema cannot be used: {broken}"


def first_error(value: Any, schema: Schema) -> str | None:
    """The first difference between a value and a schema. Called in a worker process."""
    from jsonschema import validators  # noqa: PLC0415 - 60 ms, only for tools with an output schema
    from referencing import Registry  # noqa: PLC0415 - comes with it

    # With a registry of its own, a reference to an address is not fetched.
    error = next(validators.validator_for(schema)(schema, registry=Registry()).iter_errors(value), None)
    return None if error is None else f"{error.json_path}: {error.message}"


RULE = Rule(
    id="LIV009",
    name="output-schema-mismatch",
    family="live",
    severity="error",
    what="A result does not match the output schema of its tool.",
    why="Clients validate results and reject those that do not match. Programs that rely on the schema fail.",
    fix="Generate the schema and the result from the same type.",
    check_live=check,
)
