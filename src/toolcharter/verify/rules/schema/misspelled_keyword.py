from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.schema_nodes import LIST_KEYWORDS, MAP_KEYWORDS, SINGLE_KEYWORDS

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
_SPELT = {word.lower(): word for word in _KNOWN}
_OTHERS = {
    "optional": "leave the name out of `required`",
    "requried": "it is spelt `required`",
    "desription": "it is spelt `description`",
    "descripton": "it is spelt `description`",
    "propertes": "it is spelt `properties`",
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
            meant = _SPELT.get(word.replace("_", "").replace("-", "").lower())
            hint = f"it is spelt `{meant}`" if meant else _OTHERS.get(word)
            if hint:
                yield Problem(f"`{word}` is no keyword: {hint}", f"{node.path}.{word}")


RULE = Rule(
    id="SCH020",
    name="misspelled-keyword",
    family="schema",
    severity="warning",
    what="A keyword that JSON Schema does not know, but that looks like one it does.",
    why="Unknown keywords are ignored without a word, so what it was to say holds nowhere.",
    fix="Write the keyword as JSON Schema spells it.",
    bad=[{"inputSchema": {"type": "object", "properties": {"name": {"type": "string", "max_length": 9}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}}}],
    check=check,
)
