"""Who calls, and what this server takes for granted about the call.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Any

from mcp_core import Example, Need, ToolArguments, ToolContext
from mcp_guide.guide import Answer, Guide, View
from mcp_guide.tools.fields import READS

_PROTOCOL = "io.modelcontextprotocol/protocolVersion"


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **READS,
    permissions=["projects:read"],
    tags=["client"],
    examples=[
        Example(
            "Who am I",
            {},
            {"agent": "unknown", "agent_version": "unknown", "project": "shop", "chosen_by": "folder"},
        )
    ],
)
async def client_info(guide: Need[Guide], context: ToolContext) -> Answer:
    """Tell what the server knows of this client.

    Use it when the wrong project seems active.

    Returns:
        Agent, protocol, project and why.

    Usage:
        client_info()
    """
    return await guide.look(None, context, _known, context)


def _known(view: View, context: ToolContext) -> Answer:
    value: dict[str, Any] = {
        "agent": context.agent_id,
        "agent_version": context.agent_version,
        # Only the newer protocol names itself in each request; what has a session is an older one.
        "protocol": context.metadata.get(_PROTOCOL),
        "session": context.session_id,
        "user": context.user_id,
        "project": view.project.name,
        "chosen_by": view.by,
    }
    return Answer.ok({name: known for name, known in value.items() if known is not None})
