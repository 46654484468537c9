"""Validation of arguments against the schema of an upstream, in a worker process where that may take long.

The library holds the interpreter's lock while it validates, and a schema of 2.7 KB can keep it busy for minutes.
"""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import jsonschema_rs

from mcp_core.declare.schema import JsonSchema
from mcp_core.errors import InvalidArguments, Unavailable
from mcp_core.foreign.bounded import Unfinished, run_bounded
from mcp_core.foreign.budget import MAX_LENGTH, TooLarge, check_size
from mcp_core.schema.cost import may_backtrack, patterns_of, validation_cost

DEADLINE = 2.0
"""Seconds for a validation in a worker process."""
_MAX_COST = 1_000_000
"""Schemas entered for one call in this process: about 50 ms."""
_MAX_EXPLAINED = 10_000
"""The same, for a message about what does not match: it takes a thousand times as long."""
_MAX_REPEATS, _MAX_BACKTRACKED_TEXT = 20, 2_000
_LEVELS = (32, 16, 8, 4, 2, 1)
_PATTERN_OPTIONS = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000, size_limit=2_000_000)

Explain = Callable[[Any, Mapping[str, Any]], str]
"""The message about arguments that a validator does not accept."""


class InvalidSchema(Exception):
    """A schema that no value can be compared with. The message says why."""


class ArgumentCheck:
    """The check of the arguments of one tool."""

    def __init__(self, schema: JsonSchema, explain: Explain) -> None:
        """Raises InvalidSchema."""
        self._schema, self._explain = schema, explain
        patterns = list(patterns_of(schema))
        is_large = sum("{" in pattern for pattern in patterns) > _MAX_REPEATS
        self._length = _MAX_BACKTRACKED_TEXT if any(map(may_backtrack, patterns)) else MAX_LENGTH
        self._levels, self._cost = (0, _MAX_COST + 1.0) if is_large else _levels_and_cost(schema)
        self._validator = _validator(schema) if self._cost <= _MAX_COST else None

    def check_now(self, arguments: Mapping[str, Any]) -> bool:
        """Check arguments that take a bounded time. False if the others must be checked by `check_bounded`.

        Raises ValueError for arguments that do not match.
        """
        if self._validator is None or not self._is_within(_MAX_COST, arguments):
            return False
        if not self._validator.is_valid(arguments):
            if not self._is_within(_MAX_EXPLAINED, arguments):
                raise ValueError("the arguments do not match the schema of the tool; compare them with it")
            raise ValueError(self._explain(self._validator, arguments))
        return True

    async def check_bounded(self, arguments: Mapping[str, Any], tool: str) -> None:
        """Check arguments in a worker process. Raises InvalidArguments, or Unavailable if that takes too long."""
        try:
            problem = await run_bounded(is_valid, json.dumps(self._schema), arguments, deadline=DEADLINE)
        except Unfinished as error:
            raise Unavailable(
                f"The arguments of {tool!r} could not be compared with its schema, which is very complex: {error} "
                "Nothing was done. Send fewer or flatter values."
            ) from None
        except InvalidSchema as error:
            raise Unavailable(f"The schema of the arguments of {tool!r} is not valid: {error}") from None
        if not problem:
            raise InvalidArguments(
                f"Invalid arguments for {tool!r}: they do not match its schema; compare them with it."
            )

    def _is_within(self, cost: int, arguments: Mapping[str, Any]) -> bool:
        nodes = int(cost // self._cost)
        try:
            check_size(arguments, nodes=nodes, length=self._length, depth=self._levels)
        except TooLarge:
            return False
        return True


def is_valid(schema: str, arguments: Mapping[str, Any]) -> bool:
    """Whether arguments match a schema, which is given as JSON. Called in a worker process. Raises InvalidSchema."""
    return _kept_validator(schema).is_valid(arguments)


@lru_cache(maxsize=16)
def _kept_validator(schema: str) -> Any:
    return _validator(json.loads(schema))


def _validator(schema: JsonSchema) -> Any:
    try:
        return jsonschema_rs.validator_for(schema, retriever=_refuse_address, pattern_options=_PATTERN_OPTIONS)
    except (ValueError, jsonschema_rs.ValidationError) as error:
        raise InvalidSchema(str(error).splitlines()[0]) from None


def _refuse_address(address: str) -> Any:
    """No schema is fetched from anywhere."""
    raise ValueError(f"it refers to {address}, which is outside of it")


def _levels_and_cost(schema: JsonSchema) -> tuple[int, float]:
    """How deep values may be nested in this process, and the cost of each of them then."""
    cost = 0.0
    for levels in _LEVELS:
        cost = validation_cost(schema, levels)
        if cost <= _MAX_EXPLAINED:
            return levels, cost
    return _LEVELS[-1], cost
