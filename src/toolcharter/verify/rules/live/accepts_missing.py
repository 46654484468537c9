from collections.abc import Iterable

from toolcharter.verify.live.observations import Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.live.error_as_success import is_unmarked_error


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    for exchange in observations.exchanges:
        if exchange.kind == "missing" and not exchange.is_rejected and not is_unmarked_error(exchange):
            path = f"inputSchema.properties.{exchange.argument}"
            yield Problem(f"{exchange.argument!r} is required, but a call without it was accepted", path, exchange.tool)


RULE = Rule(
    id="LIV004",
    name="accepts-missing",
    family="live",
    severity="warning",
    what="A tool accepts a call without a required argument.",
    why="Either the schema is wrong, or the tool does not need the argument. Agents rely on the schema.",
    fix="Validate the arguments against the schema first, or make the argument optional.",
    check_live=check,
)
