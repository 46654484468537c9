from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import list_at

_MOST = 1_000
_LARGE = 250
_MOST_CHARACTERS = 15_000


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    count = 0
    for node in tool.nodes:
        if "enum" not in node.schema:
            continue
        options = list_at(node.schema, "enum")
        count += len(options)
        if len(options) > _LARGE:
            characters = sum(len(option) for option in options if isinstance(option, str))
            if characters > _MOST_CHARACTERS:
                said = f"the enum has {len(options)} values of {characters} characters"
                yield Problem(said, f"{node.path}.enum", clients=("OpenAI strict mode",))
    if count > _MOST:
        yield Problem(f"has {count} enum values in all", "inputSchema", clients=("OpenAI strict mode",))


RULE = Rule(
    id="POR014",
    name="enum-too-large",
    family="portability",
    severity="warning",
    what="More than 1,000 enum values in a tool, or an enum of more than 250 with over 15,000 characters.",
    why="These are the limits of OpenAI's strict mode (Structured outputs, Supported schemas); the request is refused.",
    fix="Take a text, and offer a tool that finds the values.",
    bad=[{"inputSchema": {"type": "object", "properties": {"city": {"enum": [f"city {n}" for n in range(1001)]}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}}}}],
    check=check,
)
