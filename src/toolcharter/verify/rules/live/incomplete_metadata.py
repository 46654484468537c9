from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from mcp_core.schema.fields import object_at
from toolcharter.verify.live.hints import exchanges_with_hints
from toolcharter.verify.live.observations import Exchange, Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    seen: set[str] = set()
    for exchange in exchanges_with_hints(observations):
        if exchange.tool not in seen and (problem := _problem(exchange)):
            seen.add(exchange.tool)
            yield Problem(f"the result of {exchange.call}: {problem}", "metadata", exchange.tool)


def _problem(exchange: Exchange) -> str | None:
    if not exchange.is_rejected and exchange.json_object.get("data") is None:
        return "data is null, although the call succeeded"
    metadata = object_at(exchange.json_object, "metadata")
    for name in ("toolVersion", "serviceVersion"):
        if not isinstance(metadata.get(name), str):
            return f"metadata has no {name}"
    if not isinstance(metadata.get("executionTime"), int | float):
        return "metadata has no executionTime"
    return None if _is_utc(metadata) else f"timestamp is {metadata.get('timestamp')!r}, not an ISO 8601 time in UTC"


def _is_utc(metadata: Mapping[str, Any]) -> bool:
    try:
        offset = datetime.fromisoformat(str(metadata.get("timestamp"))).utcoffset()
    except ValueError:
        return False
    return offset is not None and not offset


RULE = Rule(
    id="LIV016",
    name="incomplete-metadata",
    family="live",
    severity="warning",
    what="A result with hints has no data, version, timestamp or execution time.",
    why="Without them nobody can see which version made a result, or how old it is.",
    fix="Let the framework add the metadata, and return an empty list instead of null.",
    check_live=check,
)
