import re
from collections.abc import Iterable

from toolcharter.verify.live.observations import Exchange, Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

_NOT_WORD = re.compile(r"[\W_]+")
_SHORT_NAME = 3
"""A short name must be a word of its own. A longer one is recognised in any spelling."""


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    for exchange in observations.exchanges:
        is_wrong = exchange.kind in ("missing", "wrong type") and exchange.answer is not None
        if is_wrong and exchange.is_rejected and not _names_argument(exchange):
            text = exchange.answer.text if exchange.answer else ""
            yield Problem(f"{exchange.call} returned {text[:80]!r}", "", exchange.tool)


def _names_argument(exchange: Exchange) -> bool:
    text = exchange.answer.text.lower() if exchange.answer else ""
    name = exchange.argument.lower()
    if len(name) <= _SHORT_NAME:
        return re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) is not None
    return _NOT_WORD.sub("", name) in _NOT_WORD.sub("", text)


RULE = Rule(
    id="LIV007",
    name="unspecific-error",
    family="live",
    severity="warning",
    what="The error for an invalid argument does not name the argument.",
    why="Agents correct a call by the error message. Without the name they change the wrong argument, or give up.",
    fix="Name the argument, the value that was given, and what is expected.",
    check_live=check,
)
