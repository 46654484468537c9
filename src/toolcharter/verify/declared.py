"""What a server of ours, or one like it, says of its tools beyond what the protocol has fields for."""

from typing import Any

from mcp_core.calling.render import META
from toolcharter.verify.subject import Tool


def declares(tool: Tool) -> bool:
    """Whether the tool was declared: in this process, or by keys of ours in its `_meta`."""
    return tool.spec is not None or any(key.startswith(META) for key in tool.listed.meta)


def declared(tool: Tool, name: str) -> Any:
    """A declared value by its name in the charter, such as `responseTime`; None where it is not declared."""
    return tool.listed.meta.get(META + name)
