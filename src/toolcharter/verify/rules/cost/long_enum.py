from collections.abc import Iterable

from mcp_core.schema.fields import list_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MAX_VALUES = 50


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        if "enum" in node.schema and (count := len(list_at(node.schema, "enum"))) > _MAX_VALUES:
            yield Problem(f"the enum has {count} values", f"{node.path}.enum")


RULE = Rule(
    id="CST007",
    name="long-enum",
    family="cost",
    severity="note",
    what="An enum of more than 50 values.",
    why="All values are sent with every request, and models choose worse among many.",
    fix="Accept a string and describe its format, such as an ISO 3166 country code, or offer a tool that finds values.",
    bad=[{"inputSchema": {"type": "object", "properties": {"city": {"enum": [f"city {n}" for n in range(51)]}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}}}}],
    check=check,
)
