from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json, string_at

_MOST = 500
"""References that are looked at: comparing thousands with each other would take long."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    refs = [(node, string_at(node.schema, "$ref")) for node in tool.nodes if "$ref" in node.schema][:_MOST]
    targets = {ref: "inputSchema" + ref[1:].replace("/", ".") for _, ref in refs if ref.startswith("#")}
    # A definition leads to every definition that is referred to inside it.
    leads = {
        ref: {inner for node, inner in refs if inner in targets and (node.path + ".").startswith(place + ".")}
        for ref, place in targets.items()
    }
    for ref in sorted(targets):
        if _reaches(ref, leads):
            yield Problem(f"{short_json(ref)} contains itself", targets[ref])


def _reaches(start: str, leads: dict[str, set[str]]) -> bool:
    seen: set[str] = set()
    waiting = list(leads[start])
    while waiting:
        ref = waiting.pop()
        if ref == start:
            return True
        if ref not in seen:
            seen.add(ref)
            waiting += leads[ref]
    return False


_TREE = {"type": "object", "properties": {"below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}

RULE = Rule(
    id="SCH011",
    name="recursive-ref",
    family="schema",
    severity="warning",
    what="A definition that contains itself.",
    why="Many clients write references out before they hand a tool to a model, and fail or stop at some depth. "
    "Anthropic's strict tool use and Gemini's function declarations take no recursion.",
    fix="Take a flat list with parent ids, or allow a fixed depth.",
    bad=[{"inputSchema": {"type": "object", "properties": {"t": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": _TREE}}}],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"t": {"$ref": "#/$defs/Tree"}},
                "$defs": {"Tree": {"type": "object", "properties": {"parent": {"type": "string"}}}},
            }
        }
    ],
    check=check,
)
