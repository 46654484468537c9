"""What a tool says about itself in words, for selectors that compare wordings."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp_core.declare.listed import ListedTool

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-./]+")


def name_in_words(name: str) -> str:
    """`add_task`, `add-task` and `addTask` are all `add task`."""
    return " ".join(part for part in _HUMP.split(name) if part)


def tool_text(tool: ListedTool) -> str:
    """Name, title, description, and the names and descriptions of the parameters."""
    parts = [name_in_words(tool.name), tool.title, tool.description, *_parameters(tool.input_schema)]
    return "\n".join(part for part in parts if part)


def _parameters(schema: Mapping[str, Any]) -> Iterator[str]:
    properties: Any = schema.get("properties")
    for name, declared in (cast(dict[str, Any], properties) if isinstance(properties, dict) else {}).items():
        words: Any = cast(dict[str, Any], declared).get("description") if isinstance(declared, dict) else None
        yield f"{name_in_words(name)}: {words}" if isinstance(words, str) else name_in_words(name)
