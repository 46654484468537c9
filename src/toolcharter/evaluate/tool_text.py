"""The texts of a tool, for selectors that compare wordings."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mcp_core.declare.listed import ListedTool
from mcp_core.schema.walk import walk

_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-./]+")


def split_name(name: str) -> str:
    """`add_task`, `add-task` and `addTask` all become `add task`."""
    return " ".join(part for part in _WORD_BREAK.split(name) if part)


def tool_text(tool: ListedTool) -> str:
    """Name, title, description, and the names and descriptions of the parameters."""
    parts = [split_name(tool.name), tool.title, tool.description, *parameter_texts(tool.input_schema)]
    return "\n".join(part for part in parts if part)


def parameter_texts(schema: Mapping[str, Any]) -> Iterator[str]:
    """The name and the description of each parameter."""
    for node in walk(schema, inside=lambda node: () if node.keyword else ("properties",)):
        if node.keyword:
            text = node.schema.get("description")
            yield f"{split_name(node.name)}: {text}" if isinstance(text, str) else split_name(node.name)
