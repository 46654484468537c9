import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_WORDS = re.compile(r"[^\W_]+")
_EMPTY = frozenset(
    {"a", "an", "the", "of", "to", "for", "this", "that", "be", "is", "it", "its", "in"}
    | {"parameter", "param", "argument", "value", "field", "string", "integer", "boolean"}
)
_LONGEST_TEXT = 60
_LONGEST = 6
"""Words; more of them say something."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        text = parameter.description
        said = _WORDS.findall(text.lower()) if 0 < len(text) < _LONGEST_TEXT else []
        if not said or len(said) > _LONGEST or "enum" in parameter.schema or text.isascii() is False:
            continue
        named = {_stem(word) for word in words_of(parameter.name)}
        named.add(_stem("".join(words_of(parameter.name))))
        if all(word in _EMPTY or _stem(word) in named for word in said):
            yield Problem(f"{text!r} only restates {parameter.name!r}", f"{parameter.path}.description")


def _stem(word: str) -> str:
    return "id" if word in {"identifier", "ids"} else word.removesuffix("s")


RULE = Rule(
    id="PAR002",
    name="parameter-restates-name",
    family="parameters",
    severity="note",
    what="A description that says no more than the parameter's name.",
    why="It costs tokens and tells nothing: not the form, not the unit, not where the value comes from.",
    fix="Say what the name does not: the form, an example, or which tool gives the value.",
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
