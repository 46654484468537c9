from collections.abc import Iterable

from toolcharter.verify.live.hints import exchanges_with_hints, hints_of
from toolcharter.verify.live.observations import Exchange, Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

_MIN_RESULTS = 3


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    by_tool: dict[str, list[Exchange]] = {}
    for exchange in exchanges_with_hints(observations):
        if isinstance(hints_of(exchange).get("confidence"), int | float):
            by_tool.setdefault(exchange.tool, []).append(exchange)
    for tool, exchanges in by_tool.items():
        succeeded = [exchange for exchange in exchanges if not exchange.is_rejected]
        if _is_constant(succeeded, exchanges):
            value = hints_of(succeeded[0])["confidence"]
            yield Problem(f"confidence is {value} in {len(succeeded)} different results", "agentHints.confidence", tool)


def _is_constant(succeeded: list[Exchange], exchanges: list[Exchange]) -> bool:
    """Whether results have the same confidence although they differ too much for that."""
    values = {hints_of(exchange)["confidence"] for exchange in succeeded}
    if len(values) != 1:
        return False
    # 0 means no evidence at all, such as for statistics without data.
    if (
        values != {0}
        and len(succeeded) < len(exchanges)
        and {hints_of(exchange)["confidence"] for exchange in exchanges} == values
    ):
        return True  # failures have the same confidence as successes
    from mcp_core.hints import SOURCE_WEIGHT  # noqa: PLC0415 - 80 ms, and few servers have hints

    # Complete results from one source share a value. Any other value in all results is not computed.
    return len(succeeded) >= _MIN_RESULTS and not values & set(SOURCE_WEIGHT.values())


RULE = Rule(
    id="LIV014",
    name="constant-confidence",
    family="live",
    severity="warning",
    what="The confidence of a tool is the same in all results, however much they differ.",
    why="Agents weigh results by their confidence. A constant carries no information.",
    fix="Compute it from the evidence: completeness, age, number of samples, source (`Evidence`).",
    check_live=check,
)
