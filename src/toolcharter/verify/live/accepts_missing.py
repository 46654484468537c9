from collections.abc import Iterable

from toolcharter.verify.live.error_as_success import is_unmarked_error
from toolcharter.verify.observed import Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server


def check(_: Server, observed: Observed) -> Iterable[Found]:
    for exchange in observed.exchanges:
        if exchange.kind == "missing" and not exchange.is_refused and not is_unmarked_error(exchange):
            path = f"inputSchema.properties.{exchange.argument}"
            yield Found(
                f"{exchange.argument!r} is required, and a call without it was carried out", path, exchange.tool
            )


RULE = Rule(
    id="LIV004",
    name="accepts-missing",
    family="live",
    severity="warning",
    what="A call without a required argument is carried out.",
    why="Either the schema is wrong, or the tool works on nothing. Both lead an agent astray.",
    fix="Validate the arguments against the schema before anything else, or make the argument optional.",
    check_live=check,
)
