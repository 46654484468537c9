from collections.abc import Iterable

from mcp_core.schema.fields import object_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MAX_PROPERTIES = 100
_MAX_STRICT = 5_000


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    count = sum(len(object_at(node.schema, "properties")) for node in tool.nodes)
    if count > _MAX_PROPERTIES:
        clients = ("OpenAI strict mode",) if count > _MAX_STRICT else ()
        yield Problem(f"has {count} properties in all", "inputSchema", clients=clients)


RULE = Rule(
    id="POR013",
    name="too-many-properties",
    family="portability",
    severity="warning",
    what="More than 100 properties in one input schema, including those of inner objects.",
    why="OpenAI's strict mode allowed 100, and now allows 5,000 (Structured outputs, Supported schemas). "
    "Models omit or confuse fields long before that.",
    fix="Split the tool, or remove properties that are rarely used.",
    bad=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(101)}}}],
    good=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(9)}}}],
    check=check,
)
