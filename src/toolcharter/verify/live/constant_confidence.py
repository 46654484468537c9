from collections.abc import Iterable

from mcp_core.hints import SOURCE_WEIGHT
from toolcharter.verify.live.hints_seen import hinting, hints_of
from toolcharter.verify.observed import Exchange, Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server

_ENOUGH = 3


def check(_: Server, observed: Observed) -> Iterable[Found]:
    by_tool: dict[str, list[Exchange]] = {}
    for exchange in hinting(observed):
        if isinstance(hints_of(exchange).get("confidence"), int | float):
            by_tool.setdefault(exchange.tool, []).append(exchange)
    for tool, exchanges in by_tool.items():
        worked = [exchange for exchange in exchanges if not exchange.is_refused]
        if _is_one_for_all(worked, exchanges):
            value = hints_of(worked[0])["confidence"]
            yield Found(f"confidence is {value} in {len(worked)} different answers", "agentHints.confidence", tool)


def _is_one_for_all(worked: list[Exchange], exchanges: list[Exchange]) -> bool:
    """Whether one figure stands in answers so different that it cannot be right for all of them."""
    values = {hints_of(exchange)["confidence"] for exchange in worked}
    if len(values) != 1:
        return False
    # 0 is what follows from no evidence at all, as with figures about nothing.
    if (
        values != {0}
        and len(worked) < len(exchanges)
        and {hints_of(exchange)["confidence"] for exchange in exchanges} == values
    ):
        return True  # failures are no worse than successes
    # Complete answers from one source share a figure; half an answer each time is not reckoned.
    return len(worked) >= _ENOUGH and not values & set(SOURCE_WEIGHT.values())


RULE = Rule(
    id="LIV014",
    name="constant-confidence",
    family="live",
    severity="warning",
    what="The confidence of a tool is the same in all answers, however much they differ.",
    why="A figure that was written down says nothing. Agents weigh answers by it.",
    fix="Reckon it from what the answer rests on: completeness, age, number of samples, source (`Evidence`).",
    check_live=check,
)
