from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_VAGUE = frozenset(
    {"data", "input", "inputs", "params", "parameters", "args", "arguments", "payload", "obj", "object"}
    | {"info", "config", "thing", "stuff", "var", "arg", "arg1", "arg2", "param", "param1", "param2", "kwargs"}
    | {"opts", "misc", "extra", "str", "string"}
)
_MIN_WORDS = 3
"""A description of this many words makes up for a vague name."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    has_other_ids = any(
        parameter.name != "id" and words_of(parameter.name)[-1:] == ("id",) for parameter in tool.arguments
    )
    for parameter in tool.arguments:
        text = parameter.description
        if len(text.split()) >= _MIN_WORDS or not text.isascii():  # not all languages put spaces between words
            continue
        if parameter.name.lower() in _VAGUE:
            yield Problem(f"{parameter.name!r} does not say what it is", parameter.path)
        elif parameter.name.lower() == "id" and has_other_ids:
            yield Problem("'id' does not say what it identifies, and the tool has other ids", parameter.path)


RULE = Rule(
    id="PAR006",
    name="vague-parameter",
    family="parameters",
    severity="note",
    what="A parameter whose name could mean anything, without a helpful description.",
    why="The agent has to guess what to send.",
    fix="Use a specific name, such as `note_id` or `body`, or describe the parameter.",
    bad=[{"inputSchema": {"type": "object", "properties": {"data": {"type": "string"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"note_id": {"type": "string", "description": "Its id."}}}}],
    check=check,
)
