from collections.abc import Iterable

from toolcharter.verify.live.observations import Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.live.error_as_success import is_unmarked_error


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    for tool, exchanges in observations.by_tool():
        works = any(one.kind == "valid" and not one.is_rejected for one in exchanges)
        for exchange in exchanges:
            if works and exchange.kind == "unknown" and not exchange.is_rejected and not is_unmarked_error(exchange):
                yield Problem("an unknown argument was ignored", "inputSchema", tool)


RULE = Rule(
    id="LIV006",
    name="accepts-unknown",
    family="live",
    severity="note",
    what="A tool ignores unknown arguments.",
    why="If an agent misspells an argument, the call succeeds, but its filter or limit is not used.",
    fix="Reject unknown arguments, name the known ones in the error, and set `additionalProperties: false`.",
    check_live=check,
)
