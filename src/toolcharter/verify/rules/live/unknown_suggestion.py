from collections.abc import Iterable

from toolcharter.verify.live.hints import exchanges_with_hints, suggested_actions
from toolcharter.verify.live.observations import Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule


def check(server: Server, observations: Observations) -> Iterable[Problem]:
    seen: set[tuple[str, str]] = set()
    for exchange in exchanges_with_hints(observations):
        for step in suggested_actions(exchange):
            action = str(step.get("action"))
            if action not in server.by_name and (exchange.tool, action) not in seen:
                seen.add((exchange.tool, action))
                yield Problem(
                    f"suggests {action!r}, which is not a tool of this server",
                    "agentHints.suggestedNextActions",
                    exchange.tool,
                )


RULE = Rule(
    id="LIV015",
    name="unknown-suggestion",
    family="live",
    severity="error",
    what="A suggested action is not a tool of the server.",
    why="An agent that follows the suggestion gets an error.",
    fix="Suggest tools by their listed names.",
    check_live=check,
)
