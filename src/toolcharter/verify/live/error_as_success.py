import re
from collections.abc import Iterable

from toolcharter.verify.observed import Exchange, Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server

_ERROR = re.compile(
    r"\s*\W{0,3}(an? )?((\w+ )?error( \w+){0,4}\b\W*[:.!-]|error\b|traceback \(|failed to|invalid (argument|input)|"
    r"exception\b|missing required)",
    re.IGNORECASE,
)


def check(_: Server, observed: Observed) -> Iterable[Found]:
    for tool, exchanges in observed.by_tool():
        if unmarked := next((one for one in exchanges if is_unmarked_error(one)), None):
            text = unmarked.answer.text[:80] if unmarked.answer else ""
            yield Found(f"{unmarked.sent} was answered with {text!r}, which is not marked as an error", tool=tool)


def is_unmarked_error(exchange: Exchange) -> bool:
    """Whether an answer that passes for a success tells of an error."""
    if exchange.is_refused or exchange.answer is None:
        return False
    document = exchange.document
    said = document.get("error") or document.get("success") is False or document.get("status") == "error"
    return bool(said) or (not document and _ERROR.match(exchange.answer.text) is not None)


RULE = Rule(
    id="LIV003",
    name="error-as-success",
    family="live",
    severity="error",
    what="An answer tells of an error, but is not marked as one.",
    why="Clients and agents go by the mark. A failure without it counts as done.",
    fix="Set `isError: true` on every failure.",
    check_live=check,
)
