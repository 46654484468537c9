from collections.abc import Iterable

from toolcharter.verify.live.observations import Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    crash = observations.last_before_crash
    if crash is not None:
        yield Problem(f"the server no longer answered after {crash.call}", tool=crash.tool)
    for exchange in observations.exchanges:
        failed = exchange.failure and not exchange.timed_out and exchange is not crash
        if failed and not exchange.is_invalid:
            yield Problem(f"a valid call failed with {exchange.failure[:120]!r}", tool=exchange.tool)


RULE = Rule(
    id="LIV001",
    name="crash-on-call",
    family="live",
    severity="error",
    what="A call stops the server, or a valid call gets a protocol error.",
    why="An agent can go on after an error that a tool reports, but not after a broken connection.",
    fix="Catch exceptions in the tool, and return a result with `isError: true` and a message.",
    check_live=check,
)
