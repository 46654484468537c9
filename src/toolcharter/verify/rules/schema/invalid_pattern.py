import re
from collections.abc import Iterable
from functools import lru_cache

from mcp_core.schema.fields import object_at, string_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json

_PYTHON_ONLY = re.compile(r"\(\?P[<=]|\\[AZ]|^\(\?[aiLmsux]+\)")
_JAVASCRIPT_ONLY = (
    (re.compile(r"\(\?<(?=[A-Za-z_$])"), "(?P<"),
    (re.compile(r"\\k<(\w+)>"), r"(?P=\1)"),
    (re.compile(r"\\[pP]\{[^}]*\}"), r"\\w"),
    (re.compile(r"\\u\{[0-9A-Fa-f]+\}|\\c[A-Za-z]"), "x"),
    (re.compile(r"\[\^\]"), r"[\\s\\S]"),
)
_MAX_LENGTH = 2_000
"""A longer pattern is not checked, because compiling it is expensive."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        pattern = string_at(node.schema, "pattern")
        if pattern and (error := pattern_error(pattern)):
            yield Problem(f"the pattern {short_json(pattern)} {error}", f"{node.path}.pattern")
        for name in object_at(node.schema, "patternProperties"):
            if error := pattern_error(name):
                yield Problem(f"the pattern {short_json(name)} {error}", f"{node.path}.patternProperties")


@lru_cache(maxsize=1_000)
def pattern_error(pattern: str) -> str | None:
    """Why a pattern is not valid in JavaScript; None if it is valid."""
    if len(pattern) > _MAX_LENGTH:
        return None
    if _PYTHON_ONLY.search(pattern):
        return "is written for Python, but JSON Schema uses JavaScript patterns"
    for javascript, python in _JAVASCRIPT_ONLY:
        pattern = javascript.sub(python, pattern)
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as problem:
        fixed = "look-behind requires fixed-width pattern"  # a limit of Python, not of JavaScript
        return None if fixed in str(problem) else f"does not compile: {problem}"
    return None


RULE = Rule(
    id="SCH005",
    name="invalid-pattern",
    family="schema",
    severity="error",
    what="A pattern that does not compile, or that is valid only in Python.",
    why="A client that validates arguments fails on the schema itself. "
    "JSON Schema uses the regular expressions of JavaScript (ECMA-262).",
    fix="Correct the pattern, and test it in a JavaScript engine.",
    bad=[{"inputSchema": {"type": "object", "properties": {"code": {"type": "string", "pattern": "^[A-Z"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"code": {"type": "string", "pattern": "^[A-Z]+$"}}}}],
    check=check,
)
