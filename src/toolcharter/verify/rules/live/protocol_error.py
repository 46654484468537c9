from collections.abc import Iterable

from toolcharter.verify.live.observations import Exchange, Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    for tool, exchanges in observations.by_tool():
        failed = [exchange for exchange in exchanges if _is_protocol_error(exchange, observations)]
        if failed:
            yield Problem(f"{failed[0].call} got a protocol error, {failed[0].failure[:120]!r}", tool=tool)


def _is_protocol_error(exchange: Exchange, observations: Observations) -> bool:
    failed = bool(exchange.failure) and not exchange.timed_out and exchange is not observations.last_before_crash
    return exchange.is_invalid and failed


RULE = Rule(
    id="LIV002",
    name="protocol-error",
    family="live",
    severity="warning",
    what="Invalid arguments get a protocol error, not a result that is marked as an error.",
    why="Clients do not show protocol errors to the model, so it cannot correct the call.",
    fix="Return a result with `isError: true` and a message that names the argument.",
    check_live=check,
)
