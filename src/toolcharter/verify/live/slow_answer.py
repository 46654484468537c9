from collections.abc import Iterable

from toolcharter.verify.observed import Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server


def check(_: Server, observed: Observed) -> Iterable[Found]:
    for exchange in observed.exchanges:
        if exchange.timed_out and exchange is not observed.gone:
            yield Found(f"{exchange.sent} had no answer within {observed.lasting:g} s", tool=exchange.tool)


RULE = Rule(
    id="LIV012",
    name="slow-answer",
    family="live",
    severity="warning",
    what="A call is not answered within the time limit.",
    why="An agent waits, and its user with it; most clients give up after a while and do not know what was done.",
    fix="Give the tool a deadline of its own, answer with what there is, or report progress.",
    check_live=check,
)
