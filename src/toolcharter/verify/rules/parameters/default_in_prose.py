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
_WORDS = frozenset(
    {"the", "a", "an", "all", "any", "your", "current", "no", "none", "null", "to", "is", "auto", "it", "its"}
    | {"user", "server", "system", "first", "today", "now", "based", "value", "if", "in", "when", "for", "last"}
    | {"each", "whatever", "process", "project", "account", "environment", "env", "working", "config", "depends"}
    | {"what", "and", "or", "undefined"}
)
"""What follows in prose without being a value."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if "default" in parameter.schema or parameter.required or "efault" not in parameter.description:
            continue
        found = _DEFAULT.search(parameter.description)
        value = (found["to"] or found["of"] or found["at"]) if found else None
        if value and value.lower() not in _WORDS:
            yield Problem(f"only its description has the default {value.rstrip('.')!r}", parameter.path)


RULE = Rule(
    id="PAR014",
    name="default-in-prose",
    family="parameters",
    severity="note",
    what="A default that the description names and the schema does not.",
    why="Clients show and fill in the default of the schema, and a contract check sees when it changes. "
    "One in prose is known to nobody but the reader.",
    fix="Give it as `default`; the description then need not repeat it.",
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
