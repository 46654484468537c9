from collections.abc import Iterable

from toolcharter.verify.observed import Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server


def check(_: Server, observed: Observed) -> Iterable[Found]:
    for tool, exchanges in observed.by_tool():
        for exchange in exchanges:
            if exchange.is_faulty and exchange.failure and not exchange.timed_out and exchange is not observed.gone:
                yield Found(f"{exchange.sent} ended in a protocol error, {exchange.failure[:120]!r}", tool=tool)
                break


RULE = Rule(
    id="LIV002",
    name="protocol-error",
    family="live",
    severity="warning",
    what="Wrong arguments are answered with an error of the protocol, not with a result that is marked as an error.",
    why="Clients keep protocol errors to themselves. The model never reads what was wrong, and cannot mend it.",
    fix="Answer with `isError: true` and a message that names the argument.",
    check_live=check,
)
