from collections.abc import Iterable

from toolcharter.verify.live.observations import Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.live.error_as_success import is_unmarked_error


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    for exchange in observations.exchanges:
        if exchange.kind == "wrong type" and not exchange.is_rejected and not is_unmarked_error(exchange):
            path = f"inputSchema.properties.{exchange.argument}"
            value = str(exchange.arguments.get(exchange.argument))
            yield Problem(f"{exchange.argument!r} was accepted with the value {value!r}", path, exchange.tool)


RULE = Rule(
    id="LIV005",
    name="accepts-wrong-type",
    family="live",
    severity="warning",
    what="A tool accepts an argument of the wrong type.",
    why="The effect is unknown, and the agent believes that the call succeeded.",
    fix="Validate the arguments against the schema first.",
    check_live=check,
)
