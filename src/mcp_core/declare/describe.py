"""Descriptions of a tool for agents and people, full or compact, from its declaration."""

import json
from collections.abc import Mapping
from string import ascii_lowercase
from typing import Any, Literal

from pydantic import BaseModel

from mcp_core.declare import schema
from mcp_core.declare.charter import CONSENT_HEADING
from mcp_core.declare.spec import Example, ToolSpec
from mcp_core.schema.walk import Node, arguments
from mcp_core.text.plurals import count

Detail = Literal["full", "compact"]


def with_arguments(spec: ToolSpec) -> str:
    """A bare function's docstring joined with its arguments."""
    parts = [spec.description, _consent(spec), _returns(spec), schema_markdown(spec.parameters)]
    return "\n\n".join(part for part in parts if part)


def describe(spec: ToolSpec, detail: Detail) -> str:
    """The description an agent is shown."""
    return full(spec) if detail == "full" else compact(spec)


def compact(spec: ToolSpec) -> str:
    """The compact description: purpose, use and result, for agents that pay by the token."""
    parts = [spec.declaration.description or spec.doc.summary, _compact_consent(spec), _deprecation(spec)]
    if not spec.declaration.description:
        parts += [spec.doc.when or " ".join(spec.doc.body.split()), _returns(spec)]
    return " ".join(part for part in parts if part)


def full(spec: ToolSpec) -> str:
    """Four labelled sections: description, JSON Schema, usage, examples."""
    sections = [
        "## Description\n" + introduction(spec),
        "## JSON Schema\n```json\n" + json.dumps(spec.input_schema, indent=2, ensure_ascii=False) + "\n```",
        "## Usage Instructions\n```\n" + (spec.doc.usage or _usage(spec)) + "\n```",
    ]
    if spec.examples:
        sections.append("## Concrete Examples\n" + "\n\n".join(_example(spec, e) for e in spec.examples))
    return "\n\n".join(sections)


def introduction(spec: ToolSpec) -> str:
    """The full description of a tool: the first of the four sections."""
    parts = [spec.doc.summary, _consent(spec), _deprecation(spec), spec.doc.body, _returns(spec)]
    if spec.declaration.description:
        parts = [spec.declaration.description, _consent(spec), _deprecation(spec)]
    return "\n\n".join(part for part in parts if part)


def _returns(spec: ToolSpec) -> str:
    if not spec.doc.returns:
        return ""
    text = spec.doc.returns
    if text.lower().startswith("return"):
        return text
    # "A list" goes on as "a list", but "JSON" and "A" stay as they are.
    return f"Returns {text[0].lower()}{text[1:]}" if text[1:2] in (" ", *ascii_lowercase) else f"Returns {text}"


def _consent(spec: ToolSpec) -> str:
    if spec.consent is None:
        return ""
    confirmation = " The user is asked to confirm it." if spec.asks_person else ""
    return (
        f"{CONSENT_HEADING}: only call this when the user has asked for exactly this action. "
        f"Set {schema.CONSENT_FIELD} to '{spec.consent}' to state that they did.{confirmation} "
        "Do not use it frivolously, on a guess, or as a step that the user did not ask for."
    )


def _compact_consent(spec: ToolSpec) -> str:
    if spec.consent is None:
        return ""
    confirmation = ", and the user is asked to confirm" if spec.asks_person else ""
    return (
        f"{CONSENT_HEADING}{confirmation}: never call it frivolously or on a guess. "
        f"Set {schema.CONSENT_FIELD} to '{spec.consent}' to state that the user asked for exactly this."
    )


def _deprecation(spec: ToolSpec) -> str:
    deprecated = spec.declaration.deprecated
    return deprecated.sentence().replace("Deprecated", "DEPRECATED", 1) if deprecated else ""


def _usage(spec: ToolSpec) -> str:
    required = set(spec.input_schema.get("required", ()))
    lines = [f"{spec.name}("]
    for name, argument in spec.input_schema["properties"].items():
        note = "required" if name in required else "optional"
        lines.append(f"  {name}={_placeholder(type_words(argument))},  # {note}")
    return "\n".join([*lines, ")"])


def _placeholder(kind: str) -> str:
    # <object> would be an HTML element, which descriptions must not contain.
    return "{...}" if kind == "object" else f"<{kind}>"


def _example(spec: ToolSpec, example: Example) -> str:
    arguments = ", ".join(f"{name}={_json(value)}" for name, value in example.params.items())
    return f"```\n# {example.description}\n{spec.name}({arguments})\n# -> {_json(example.expected_result)}\n```"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


# --- the schema as Markdown --------------------------------------------------------------------------------


def schema_markdown(model: type[BaseModel]) -> str:
    """Every argument with type, need, default, limits and description, under a `## Arguments` heading."""
    fields = schema.json_schema(model)
    rows = [_row(argument) for argument in arguments(fields)]
    return "\n".join(["## Arguments", "", *(rows or ["None."])])


def _row(node: Node) -> str:
    argument = node.schema
    notes = [type_words(argument), "required" if node.required else "optional"]
    if "default" in argument:
        notes.append(f"default: {_json(argument['default'])}")
    notes += limit_words(argument)
    head = f"{'  ' * node.depth}- **{node.name}** ({', '.join(notes)})"
    return f"{head}: {argument['description']}" if argument.get("description") else head


def type_words(argument: Mapping[str, Any]) -> str:
    """The type of an argument in words."""
    if "enum" in argument:
        return " | ".join(_json(value) for value in argument["enum"])
    for union in ("anyOf", "oneOf"):
        if union in argument:
            return " or ".join(type_words(option) for option in argument[union])
    if argument.get("type") == "array":
        return f"list of {type_words(argument['items'])}" if argument.get("items") else "list"
    named: str | list[str] = argument.get("type", "any")
    kind = " or ".join(named) if isinstance(named, list) else named
    return f"{kind} ({argument['format']})" if "format" in argument else kind


_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "above {}",
    "exclusiveMaximum": "below {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {}",
    "maxLength": "at most {}",
    "pattern": "matching `{}`",
    "minItems": "at least {}",
    "maxItems": "at most {}",
}
_COUNTED = {"minLength": "character", "maxLength": "character", "minItems": "item", "maxItems": "item"}


def limit_words(argument: Mapping[str, Any]) -> list[str]:
    """The limits of an argument in words."""
    return [
        words.format(count(argument[key], _COUNTED[key]) if key in _COUNTED else argument[key])
        for key, words in _LIMITS.items()
        if key in argument
    ]
