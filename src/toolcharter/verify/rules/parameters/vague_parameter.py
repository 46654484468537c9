from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_VAGUE = frozenset(
    {"data", "input", "inputs", "params", "parameters", "args", "arguments", "payload", "obj", "object"}
    | {"info", "config", "thing", "stuff", "var", "arg", "arg1", "arg2", "param", "param1", "param2", "kwargs"}
    | {"opts", "misc", "extra", "str", "string"}
)
_ENOUGH = 3
"""Words of a description that make up for a vague name."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    beside = any(parameter.name != "id" and words_of(parameter.name)[-1:] == ("id",) for parameter in tool.arguments)
    for parameter in tool.arguments:
        text = parameter.description
        if len(text.split()) >= _ENOUGH or not text.isascii():  # not all languages put spaces between words
            continue
        if parameter.name.lower() in _VAGUE:
            yield Problem(f"{parameter.name!r} does not say what it holds", parameter.path)
        elif parameter.name.lower() == "id" and beside:
            yield Problem("'id' stands beside other ids, and does not say of what it is", parameter.path)


RULE = Rule(
    id="PAR006",
    name="vague-parameter",
    family="parameters",
    severity="note",
    what="A parameter with a name that could hold anything, and a description that does not help.",
    why="The agent puts in what it thinks is meant.",
    fix="Name it for what it holds, such as `note_id` or `body`, or describe it.",
    bad=[{"inputSchema": {"type": "object", "properties": {"data": {"type": "string"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"note_id": {"type": "string", "description": "Its id."}}}}],
    check=check,
)
