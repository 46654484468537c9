from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import list_at

_LONG = 50


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        if "enum" in node.schema and (count := len(list_at(node.schema, "enum"))) > _LONG:
            yield Problem(f"the enum has {count} values", f"{node.path}.enum")


RULE = Rule(
    id="CST007",
    name="long-enum",
    family="cost",
    severity="note",
    what="An enum of more than 50 values.",
    why="All of them are sent with every request, and a model chooses less well among many.",
    fix="Take a text and say its form, such as a country code of ISO 3166, or offer a tool that finds the values.",
    bad=[{"inputSchema": {"type": "object", "properties": {"city": {"enum": [f"city {n}" for n in range(51)]}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}}}}],
    check=check,
)
