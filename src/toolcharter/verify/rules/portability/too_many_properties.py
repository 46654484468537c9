from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import object_at

_MOST = 100
_MOST_STRICT = 5_000


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    count = sum(len(object_at(node.schema, "properties")) for node in tool.nodes)
    if count > _MOST:
        clients = ("OpenAI strict mode",) if count > _MOST_STRICT else ()
        yield Problem(f"has {count} properties in all", "inputSchema", clients=clients)


RULE = Rule(
    id="POR013",
    name="too-many-properties",
    family="portability",
    severity="warning",
    what="More than 100 properties in one input schema, those of inner objects included.",
    why="OpenAI's strict mode took 100, and takes 5,000 today (Structured outputs, Supported schemas). "
    "Long before that, models leave out or mix up fields.",
    fix="Split the tool, or take what is rarely needed out.",
    bad=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(101)}}}],
    good=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(9)}}}],
    check=check,
)
