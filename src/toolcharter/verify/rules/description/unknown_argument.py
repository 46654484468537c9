import re
from collections.abc import Iterable

from mcp_core.schema.fields import list_at
from toolcharter.verify.documented_arguments import documented_arguments
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_NAMED = re.compile(
    r"(?:\b[Tt]he |\bits |[.!?] |^)`([A-Za-z_]\w*)`\s+(?:parameter|argument|param|arg)\b(?!s)"
    r"|\b(?:parameter|argument|param)\s+`([A-Za-z_]\w*)`"
    r"|(?<!not )\b(?:[Ss]et|[Pp]ass|[Ss]pecify|[Oo]mit|[Pp]rovide) "
    r"`([a-z]{3,}|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)`(?= (?:to|as|for|if|when)\b)"
)
"""A name that is called an argument, or that the agent is asked to set. Other names in backticks are often values."""


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    named = [entry.name for entry in documented_arguments(tool.description)]
    if "`" in tool.prose:
        named += [match[match.lastindex or 0] for match in _NAMED.finditer(tool.prose)]
    if not named:
        return
    known = {parameter.name for parameter in tool.parameters} | set(server.by_name) | _values_of(tool)
    for name in dict.fromkeys(named):
        if name not in known:
            yield Problem(f"mentions an argument {name!r}, which is not in the schema", "description")


def _values_of(tool: Tool) -> set[str]:
    """The values that arguments may have: a text may call one an argument."""
    return {value for node in tool.nodes for value in list_at(node.schema, "enum") if isinstance(value, str)}


RULE = Rule(
    id="DSC016",
    name="unknown-argument",
    family="description",
    severity="warning",
    what="A description mentions an argument that is not in the schema.",
    why="An agent sends it. A strict server rejects the call, a lenient one silently ignores the argument.",
    fix="Write the name as in the schema, or remove the sentence.",
    bad=[{"description": "List the notes of a folder. The `directory` parameter says which. Returns their titles."}],
    good=[{"description": "List the notes of a folder. The `folder` parameter says which. Returns their titles."}],
    check=check,
)
