import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_WORDS = re.compile(r"[^\W_]+")
_EMPTY_WORDS = frozenset(
    {"a", "an", "the", "of", "to", "for", "this", "that", "be", "is", "it", "its", "in"}
    | {"parameter", "param", "argument", "value", "field", "string", "integer", "boolean"}
)
_MAX_LENGTH = 60
_MAX_WORDS = 6
"""A longer description says something."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        text = parameter.description
        words = _WORDS.findall(text.lower()) if 0 < len(text) < _MAX_LENGTH else []
        if not words or len(words) > _MAX_WORDS or "enum" in parameter.schema or text.isascii() is False:
            continue
        name_words = {_stem(word) for word in words_of(parameter.name)}
        name_words.add(_stem("".join(words_of(parameter.name))))
        if all(word in _EMPTY_WORDS or _stem(word) in name_words for word in words):
            yield Problem(f"{text!r} only repeats the name {parameter.name!r}", f"{parameter.path}.description")


def _stem(word: str) -> str:
    return "id" if word in {"identifier", "ids"} else word.removesuffix("s")


RULE = Rule(
    id="PAR002",
    name="parameter-restates-name",
    family="parameters",
    severity="note",
    what="A description that only repeats the name of the parameter.",
    why="It costs tokens, but does not say the format, the unit, or where the value comes from.",
    fix="Say what the name does not: the format, an example, or which tool returns the value.",
    bad=[
        {"inputSchema": {"type": "object", "properties": {"user_id": {"type": "string", "description": "The user ID"}}}}
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"user_id": {"type": "string", "description": "As list_users gives it, such as u_17."}},
            }
        }
    ],
    check=check,
)
