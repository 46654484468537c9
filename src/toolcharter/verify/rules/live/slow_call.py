from collections.abc import Iterable

from toolcharter.verify.live.observations import Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    for exchange in observations.exchanges:
        if exchange.timed_out and exchange is not observations.last_before_crash:
            yield Problem(f"{exchange.call} got no result within {observations.timeout:g} s", tool=exchange.tool)


RULE = Rule(
    id="LIV012",
    name="slow-call",
    family="live",
    severity="warning",
    what="A call gets no result within the time limit.",
    why="The agent and its user wait. Most clients give up after a while, and do not know what was done.",
    fix="Give the tool a deadline, return partial results, or report progress.",
    check_live=check,
)
