import re
from collections.abc import Iterable

from toolcharter.verify.observed import Exchange, Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server

_NOT_WORD = re.compile(r"[\W_]+")
_SHORT = 3
"""A name up to here is looked for as a word of its own; a longer one is known in any spelling."""


def check(_: Server, observed: Observed) -> Iterable[Found]:
    for exchange in observed.exchanges:
        faulty = exchange.kind in ("missing", "wrong type") and exchange.answer is not None
        if faulty and exchange.is_refused and not _names(exchange):
            text = exchange.answer.text if exchange.answer else ""
            yield Found(f"{exchange.sent} was answered with {text[:80]!r}", "", exchange.tool)


def _names(exchange: Exchange) -> bool:
    text = exchange.answer.text.lower() if exchange.answer else ""
    name = exchange.argument.lower()
    if len(name) <= _SHORT:
        return re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) is not None
    return _NOT_WORD.sub("", name) in _NOT_WORD.sub("", text)


RULE = Rule(
    id="LIV007",
    name="nameless-error",
    family="live",
    severity="warning",
    what="The answer to wrong arguments does not name the argument that was wrong.",
    why="An agent mends a call by what the error says. Without the name it changes the wrong thing, or gives up.",
    fix="Say which argument was wrong, what was given, and what is expected.",
    check_live=check,
)
