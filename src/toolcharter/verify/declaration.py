"""What a tool of ours declares in `_meta`, beyond the fields of the protocol."""

from typing import Any

from mcp_core.declare.charter import META
from toolcharter.verify.model import Tool


def is_declared(tool: Tool) -> bool:
    """Whether the tool has a declaration: in this process, or by our keys in its `_meta`."""
    return tool.spec is not None or any(key.startswith(META) for key in tool.listed.meta)


def declared_value(tool: Tool, name: str) -> Any:
    """A declared value by its name in the charter, such as `responseTime`; None if it is not declared."""
    return tool.listed.meta.get(META + name)
