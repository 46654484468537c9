from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from mcp_core.schema.fields import has_type, object_at
from toolcharter.verify.live.hints import HINTS, exchanges_with_hints, hints_of
from toolcharter.verify.live.observations import Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

_LISTS = (
    *("suggestedNextActions", "relatedResources", "contextNeeded", "assumptions", "riskFactors", "dependencies"),
    "preferenceAlignment",
)


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    seen: set[str] = set()
    for exchange in exchanges_with_hints(observations):
        if exchange.tool not in seen and (wrong := next(_problems(hints_of(exchange)), None)):
            seen.add(exchange.tool)
            yield Problem(f"the result of {exchange.call}: {wrong}", HINTS, exchange.tool)


def _problems(hints: Mapping[str, Any]) -> Iterator[str]:
    if not hints:
        yield "has no agentHints"
        return
    yield from (f"{name} is not a list" for name in _LISTS if not isinstance(hints.get(name), list))
    from mcp_core.hints import SourceQuality, ValidityPeriod  # noqa: PLC0415 - 80 ms, and few servers have hints

    for name, options in (
        ("sourceQuality", get_args(SourceQuality)),
        ("validityPeriod", get_args(ValidityPeriod)),
    ):
        if hints.get(name) not in options:
            yield f"{name} is {hints.get(name)!r}, not one of {', '.join(options)}"
    if not _is_between_0_and_1(hints.get("confidence")):
        yield f"confidence is {hints.get('confidence')!r}, not a number from 0 to 1"
    impact = object_at(hints, "estimatedImpact")
    yield from (
        f"estimatedImpact has no {name}"
        for name in ("benefit", "effort", "roi")
        if not has_type(impact.get(name), "number")
    )


def _is_between_0_and_1(value: Any) -> bool:
    return has_type(value, "number") and 0 <= value <= 1


RULE = Rule(
    id="LIV013",
    name="incomplete-hints",
    family="live",
    severity="error",
    what="Agent hints are incomplete or malformed, in results or in errors.",
    why="Agents rely on all eleven fields, and may fail if one is missing.",
    fix="Create the hints with `AgentHints`, which has all fields.",
    check_live=check,
)
