import re
from collections.abc import Iterable
from functools import lru_cache

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import object_at, short_json, string_at

_PYTHON_ONLY = re.compile(r"\(\?P[<=]|\\[AZ]|^\(\?[aiLmsux]+\)")
_JAVASCRIPT_ONLY = (
    (re.compile(r"\(\?<(?=[A-Za-z_$])"), "(?P<"),
    (re.compile(r"\\k<(\w+)>"), r"(?P=\1)"),
    (re.compile(r"\\[pP]\{[^}]*\}"), r"\\w"),
    (re.compile(r"\\u\{[0-9A-Fa-f]+\}|\\c[A-Za-z]"), "x"),
    (re.compile(r"\[\^\]"), r"[\\s\\S]"),
)
_LONGEST = 2_000
"""A longer pattern is taken as it is: compiling it would cost more than it tells."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        pattern = string_at(node.schema, "pattern")
        if pattern and (fault := fault_of(pattern)):
            yield Problem(f"the pattern {short_json(pattern)} {fault}", f"{node.path}.pattern")
        for name in object_at(node.schema, "patternProperties"):
            if fault := fault_of(name):
                yield Problem(f"the pattern {short_json(name)} {fault}", f"{node.path}.patternProperties")


@lru_cache(maxsize=1_000)
def fault_of(pattern: str) -> str | None:
    """What is wrong with a pattern, read as JavaScript reads it."""
    if len(pattern) > _LONGEST:
        return None
    if _PYTHON_ONLY.search(pattern):
        return "is written for Python; JSON Schema has the patterns of JavaScript"
    for ours, theirs in _JAVASCRIPT_ONLY:
        pattern = ours.sub(theirs, pattern)
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        fixed = "look-behind requires fixed-width pattern"  # JavaScript has no such limit
        return None if fixed in str(error) else f"does not compile: {error}"
    return None


RULE = Rule(
    id="SCH005",
    name="invalid-pattern",
    family="schema",
    severity="error",
    what="A pattern that does not compile, or that only Python understands.",
    why="A client that checks arguments fails on the schema instead of on the arguments. "
    "JSON Schema names the regular expressions of JavaScript (ECMA-262).",
    fix="Mend the pattern, and try it in a JavaScript engine.",
    bad=[{"inputSchema": {"type": "object", "properties": {"code": {"type": "string", "pattern": "^[A-Z"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"code": {"type": "string", "pattern": "^[A-Z]+$"}}}}],
    check=check,
)
