from collections.abc import Iterable

from mcp_core.schema.fields import list_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MAX_VALUES = 1_000
_LARGE_ENUM = 250
_MAX_CHARACTERS = 15_000


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    count = 0
    for node in tool.nodes:
        if "enum" not in node.schema:
            continue
        options = list_at(node.schema, "enum")
        count += len(options)
        if len(options) > _LARGE_ENUM:
            characters = sum(len(option) for option in options if isinstance(option, str))
            if characters > _MAX_CHARACTERS:
                message = f"the enum has {len(options)} values of {characters} characters"
                yield Problem(message, f"{node.path}.enum", clients=("OpenAI strict mode",))
    if count > _MAX_VALUES:
        yield Problem(f"has {count} enum values in all", "inputSchema", clients=("OpenAI strict mode",))


RULE = Rule(
    id="POR014",
    name="enum-too-large",
    family="portability",
    severity="warning",
    what="More than 1,000 enum values in a tool, or an enum of more than 250 with over 15,000 characters.",
    why="OpenAI's strict mode rejects requests above these limits (Structured outputs, Supported schemas).",
    fix="Accept a string, and offer a tool that finds the values.",
    bad=[{"inputSchema": {"type": "object", "properties": {"city": {"enum": [f"city {n}" for n in range(1001)]}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}}}}],
    check=check,
)
