import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_DEFAULT = re.compile(
    r"\bdefaults? (?:is|to|value is|value:)\s{0,3}[:=]?\s{0,3}[`'\"]?(?P<to>-?\w[\w./-]*)"
    r"|\(\s{0,3}default\s{0,3}[:=]?\s{0,3}[`'\"]?(?P<of>-?\w[\w./-]*)"
    r"|\bdefault\s{0,3}[:=]\s{0,3}[`'\"]?(?P<at>-?\w[\w./-]*)",
    re.IGNORECASE,
)
_NOT_VALUES = frozenset(
    {"the", "a", "an", "all", "any", "your", "current", "no", "none", "null", "to", "is", "auto", "it", "its"}
    | {"user", "server", "system", "first", "today", "now", "based", "value", "if", "in", "when", "for", "last"}
    | {"each", "whatever", "process", "project", "account", "environment", "env", "working", "config", "depends"}
    | {"what", "and", "or", "undefined"}
)
"""Words that may follow `default` in prose, but are not values."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if "default" in parameter.schema or parameter.required or "efault" not in parameter.description:
            continue
        found = _DEFAULT.search(parameter.description)
        value = (found["to"] or found["of"] or found["at"]) if found else None
        if value and value.lower() not in _NOT_VALUES:
            yield Problem(f"the default {value.rstrip('.')!r} is only in its description", parameter.path)


RULE = Rule(
    id="PAR014",
    name="default-in-prose",
    family="parameters",
    severity="note",
    what="A default that is in the description, but not in the schema.",
    why="Clients show and fill in a default from the schema, and a contract check notices when it changes. "
    "They do not see a default in prose.",
    fix="Set `default`. The description need not repeat it.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"limit": {"type": "integer", "description": "How many, at most (default: 10)."}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"limit": {"type": "integer", "description": "How many, at most.", "default": 10}},
            }
        }
    ],
    check=check,
)
