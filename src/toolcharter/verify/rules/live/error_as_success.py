import re
from collections.abc import Iterable

from toolcharter.verify.live.observations import Exchange, Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

_ERROR = re.compile(
    r"\s*\W{0,3}(an? )?((\w+ )?error( \w+){0,4}\b\W*[:.!-]|error\b|traceback \(|failed to|invalid (argument|input)|"
    r"exception\b|missing required)",
    re.IGNORECASE,
)


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    for tool, exchanges in observations.by_tool():
        if unmarked := next((one for one in exchanges if is_unmarked_error(one)), None):
            text = unmarked.answer.text[:80] if unmarked.answer else ""
            yield Problem(f"{unmarked.call} returned {text!r}, which is not marked as an error", tool=tool)


def is_unmarked_error(exchange: Exchange) -> bool:
    """Whether a result that is not marked as an error reports one."""
    if exchange.is_rejected or exchange.answer is None:
        return False
    body = exchange.json_object
    is_error = body.get("error") or body.get("success") is False or body.get("status") == "error"
    return bool(is_error) or (not body and _ERROR.match(exchange.answer.text) is not None)


RULE = Rule(
    id="LIV003",
    name="error-as-success",
    family="live",
    severity="error",
    what="A result reports an error, but is not marked as one.",
    why="Clients and agents check `isError`. A failure without it counts as a success.",
    fix="Set `isError: true` in every failure.",
    check_live=check,
)
