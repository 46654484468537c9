from collections.abc import Iterable

from toolcharter.verify.live.hints_seen import hinting, hints_of, objects_at
from toolcharter.verify.observed import Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server


def check(server: Server, observed: Observed) -> Iterable[Found]:
    seen: set[tuple[str, str]] = set()
    for exchange in hinting(observed):
        for step in objects_at(hints_of(exchange), "suggestedNextActions"):
            action = str(step.get("action"))
            if action not in server.by_name and (exchange.tool, action) not in seen:
                seen.add((exchange.tool, action))
                yield Found(
                    f"suggests {action!r}, which is no tool here", "agentHints.suggestedNextActions", exchange.tool
                )


RULE = Rule(
    id="LIV015",
    name="dead-suggestion",
    family="live",
    severity="error",
    what="A suggested action names no tool of the server.",
    why="An agent follows the suggestion, and is told that there is no such tool.",
    fix="Suggest tools by the names they are listed under.",
    check_live=check,
)
