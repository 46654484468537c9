from collections.abc import Iterable

from toolcharter.verify.live.error_as_success import is_unmarked_error
from toolcharter.verify.observed import Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server


def check(_: Server, observed: Observed) -> Iterable[Found]:
    for exchange in observed.exchanges:
        if exchange.kind == "wrong type" and not exchange.is_refused and not is_unmarked_error(exchange):
            path = f"inputSchema.properties.{exchange.argument}"
            value = str(exchange.arguments.get(exchange.argument))
            yield Found(f"{exchange.argument!r} was taken as {value!r}", path, exchange.tool)


RULE = Rule(
    id="LIV005",
    name="accepts-wrong-type",
    family="live",
    severity="warning",
    what="An argument of a wrong type is taken.",
    why="What the tool does with it is anyone's guess, and the agent is told that it worked.",
    fix="Validate the arguments against the schema before anything else.",
    check_live=check,
)
