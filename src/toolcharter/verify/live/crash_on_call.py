from collections.abc import Iterable

from toolcharter.verify.live.output_schema import is_about_output
from toolcharter.verify.observed import Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server


def check(_: Server, observed: Observed) -> Iterable[Found]:
    if observed.gone is not None:
        yield Found(f"the server was gone after {observed.gone.sent}", tool=observed.gone.tool)
    for exchange in observed.exchanges:
        ended = exchange.failure and not exchange.timed_out and exchange is not observed.gone
        if ended and not exchange.is_faulty and not is_about_output(exchange):
            yield Found(f"a valid call ended in {exchange.failure[:120]!r}", tool=exchange.tool)


RULE = Rule(
    id="LIV001",
    name="crash-on-call",
    family="live",
    severity="error",
    what="A call ends the server, or a valid one is answered with an error of the protocol.",
    why="An agent can go on after an error that a tool reports. It cannot after a broken connection.",
    fix="Catch what can go wrong in the tool, and answer with `isError: true` and a sentence.",
    check_live=check,
)
