from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_STORED = frozenset(
    {"content", "body", "text", "message", "comment", "note", "notes", "description", "caption", "summary"}
)
_STORES = frozenset(
    {"create", "add", "update", "write", "post", "send", "save", "append", "insert", "edit", "publish", "reply"}
)
_BOUNDS = frozenset({"maxLength", "enum", "const", "pattern"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if _STORES.isdisjoint(tool.name_words[:3]):
        return
    for parameter in tool.arguments:
        last = words_of(parameter.name)[-1:]
        if last and last[0] in _STORED and parameter.types == ("string",) and _BOUNDS.isdisjoint(parameter.schema):
            yield Problem(f"{parameter.name!r} is stored, but has no maxLength", parameter.path)


RULE = Rule(
    id="PAR005",
    name="unbounded-text",
    family="parameters",
    severity="note",
    what="A text that a tool stores or sends has no maximum length.",
    why="Every storage has a limit. If it is not in the schema, the agent learns it from an error, "
    "after it has written the text.",
    fix="Set `maxLength` to the limit of the storage.",
    bad=[{"name": "add_note", "inputSchema": {"type": "object", "properties": {"body": {"type": "string"}}}}],
    good=[
        {
            "name": "add_note",
            "inputSchema": {"type": "object", "properties": {"body": {"type": "string", "maxLength": 9000}}},
        }
    ],
    check=check,
    optional=True,
)
