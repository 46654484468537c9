"""The other texts of a server for agents: instructions, prompts and resources. Security rules check them."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp_core.declare.listed import ListedTool
from mcp_core.schema.fields import list_at, string_at
from toolcharter.verify.model import OtherText, Tool


def other_texts(fields: Mapping[str, Any]) -> tuple[OtherText, ...]:
    """The texts in `instructions`, `prompts` and `resources`, which are as in the protocol."""
    return tuple(_all(fields))


def _all(fields: Mapping[str, Any]) -> Iterator[OtherText]:
    if instructions := string_at(fields, "instructions"):
        yield _text("the instructions", "instructions", {"name": "instructions", "description": instructions})
    for number, prompt in enumerate(_objects(fields, "prompts")):
        arguments = {string_at(one, "name"): one for one in _objects(prompt, "arguments")}
        entry = {**prompt, "inputSchema": {"properties": arguments}}
        yield _text(f"the prompt {string_at(prompt, 'name')!r}", f"prompts.{number}", entry)
    for number, resource in enumerate(_objects(fields, "resources")):
        address = string_at(resource, "uri") or string_at(resource, "uriTemplate")
        # The address is a value, and often has the path of a file.
        entry = {**resource, "annotations": {"address": address}}
        yield _text(f"the resource {address!r}", f"resources.{number}", entry)


def _objects(fields: Mapping[str, Any], keyword: str) -> Iterator[dict[str, Any]]:
    return (cast(dict[str, Any], item) for item in list_at(fields, keyword) if isinstance(item, dict))


def _text(label: str, path: str, entry: Mapping[str, Any]) -> OtherText:
    return OtherText(label, path, Tool(ListedTool.from_wire({**entry, "name": string_at(entry, "name")})))
