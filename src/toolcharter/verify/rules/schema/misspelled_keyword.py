from collections.abc import Iterable

from mcp_core.schema.walk import LIST_KEYWORDS, MAP_KEYWORDS, SINGLE_KEYWORDS
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_KNOWN = frozenset(
    {
        *SINGLE_KEYWORDS,
        *LIST_KEYWORDS,
        *MAP_KEYWORDS,
        "type",
        "enum",
        "const",
        "required",
        "description",
        "title",
        "default",
        "examples",
    }
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"}
    | {"format", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "readOnly", "writeOnly"}
)
_BY_LOWER_CASE = {word.lower(): word for word in _KNOWN}
_HINTS = {
    "optional": "leave the name out of `required`",
    "requried": "it is spelled `required`",
    "desription": "it is spelled `description`",
    "descripton": "it is spelled `description`",
    "propertes": "it is spelled `properties`",
    "min": "it is called `minimum`, `minLength` or `minItems`",
    "max": "it is called `maximum`, `maxLength` or `maxItems`",
    "values": "it is called `enum`",
    "options": "it is called `enum`",
    "choices": "it is called `enum`",
}


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        for word in node.schema:
            if word in _KNOWN:
                continue
            spelling = _BY_LOWER_CASE.get(word.replace("_", "").replace("-", "").lower())
            hint = f"it is spelled `{spelling}`" if spelling else _HINTS.get(word)
            if hint:
                yield Problem(f"`{word}` is not a keyword: {hint}", f"{node.path}.{word}")


RULE = Rule(
    id="SCH020",
    name="misspelled-keyword",
    family="schema",
    severity="warning",
    what="An unknown keyword that looks like a JSON Schema keyword.",
    why="Unknown keywords are silently ignored, so the keyword has no effect.",
    fix="Correct the spelling of the keyword.",
    bad=[{"inputSchema": {"type": "object", "properties": {"name": {"type": "string", "max_length": 9}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}}}],
    check=check,
)
