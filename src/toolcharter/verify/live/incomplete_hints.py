from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from mcp_core.hints import SourceQuality, ValidityPeriod
from toolcharter.verify.live.hints_seen import HINTS, hinting, hints_of, object_at
from toolcharter.verify.observed import Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server

_LISTS = (
    *("suggestedNextActions", "relatedResources", "contextNeeded", "assumptions", "riskFactors", "dependencies"),
    "preferenceAlignment",
)
_CHOICES = {"sourceQuality": get_args(SourceQuality), "validityPeriod": get_args(ValidityPeriod)}


def check(_: Server, observed: Observed) -> Iterable[Found]:
    seen: set[str] = set()
    for exchange in hinting(observed):
        if exchange.tool not in seen and (wrong := next(_wrong(hints_of(exchange)), None)):
            seen.add(exchange.tool)
            yield Found(f"the answer to {exchange.sent}: {wrong}", HINTS, exchange.tool)


def _wrong(hints: Mapping[str, Any]) -> Iterator[str]:
    if not hints:
        yield "has no agentHints"
        return
    yield from (f"{name} is not a list" for name in _LISTS if not isinstance(hints.get(name), list))
    for name, options in _CHOICES.items():
        if hints.get(name) not in options:
            yield f"{name} is {hints.get(name)!r}, not one of {', '.join(options)}"
    if not _is_share(hints.get("confidence")):
        yield f"confidence is {hints.get('confidence')!r}, not a number from 0 to 1"
    impact = object_at(hints, "estimatedImpact")
    yield from (
        f"estimatedImpact lacks {name}" for name in ("benefit", "effort", "roi") if not _is_number(impact.get(name))
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


RULE = Rule(
    id="LIV013",
    name="incomplete-hints",
    family="live",
    severity="error",
    what="A server that gives agent hints leaves some out, or gives them in another form; in errors too.",
    why="An agent that was promised eleven fields reads them without looking. One that is missing stops it.",
    fix="Make the hints with `AgentHints`, which has them all.",
    check_live=check,
)
