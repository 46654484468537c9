from collections.abc import Iterable

from toolcharter.verify.live.error_as_success import is_unmarked_error
from toolcharter.verify.observed import Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server


def check(_: Server, observed: Observed) -> Iterable[Found]:
    for tool, exchanges in observed.by_tool():
        works = any(one.kind == "valid" and not one.is_refused for one in exchanges)
        for exchange in exchanges:
            if works and exchange.kind == "unknown" and not exchange.is_refused and not is_unmarked_error(exchange):
                yield Found("an argument that does not exist was ignored", "inputSchema", tool)


RULE = Rule(
    id="LIV006",
    name="accepts-unknown",
    family="live",
    severity="note",
    what="An argument that does not exist is ignored.",
    why="An agent that misspells an argument is told that all went well, and its filter or limit was never used.",
    fix="Refuse unknown arguments, name those there are, and say `additionalProperties: false` in the schema.",
    check_live=check,
)
