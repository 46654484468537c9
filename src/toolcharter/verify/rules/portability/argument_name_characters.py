import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import object_at, short_json

_ALLOWED = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for name in object_at(tool.schema, "properties"):
        if not _ALLOWED.fullmatch(name):
            place = f"inputSchema.properties.{name}"
            yield Problem(
                f"the argument {short_json(name)} has a name that is refused", place, clients=("Claude", "Gemini")
            )


RULE = Rule(
    id="POR006",
    name="argument-name-characters",
    family="portability",
    severity="error",
    what="An argument whose name has other characters than letters, digits, _, . and -, or more than 64.",
    why="The Anthropic API, also through Bedrock, refuses the request with all tools: "
    "\"Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'\". Only names at the top level are checked. "
    "Gemini on Vertex AI allows still less.",
    fix="Rename the argument, and map it to the outside name in the tool.",
    bad=[{"inputSchema": {"type": "object", "properties": {"tags[]": {"type": "string"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"tags": {"type": "string"}}}}],
    check=check,
)
