"""The declaration of our tools in `_meta`, beyond the fields of the protocol."""

from typing import Any

from mcp_core.declare.charter import META
from toolcharter.verify.model import Tool


def is_declared(tool: Tool) -> bool:
    """Whether the tool has a full declaration, which has a version in `_meta`."""
    return tool.spec.governed if tool.spec is not None else META + "version" in tool.listed.meta


def has_declared_values(tool: Tool) -> bool:
    """Whether the tool declares anything in `_meta`."""
    return any(name.startswith(META) for name in tool.listed.meta)


def declared_value(tool: Tool, name: str) -> Any:
    """A declared value by its name in the charter, such as `responseTime`; None if it is not declared."""
    return tool.listed.meta.get(META + name)
