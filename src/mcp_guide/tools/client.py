"""The client as the server knows it, and its active project.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from mcp_guide.guide import Guide, GuideResult, JsonObject, ProjectView
from mcp_guide.tools import presets
from toolcharter import Example, ToolContext

_PROTOCOL = "io.modelcontextprotocol/protocolVersion"


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads(
    tags=["client"],
    examples=[
        Example(
            "Show this client",
            {},
            {"agent": "unknown", "agent_version": "unknown", "project": "shop", "chosen_by": "folder"},
        )
    ],
)
async def client_info(guide: Guide, context: ToolContext) -> GuideResult:
    """Show what the server knows about this client.

    Use it to see which agent and protocol the server sees.

    Returns:
        Agent, protocol, project and why.

    Usage:
        client_info()
    """
    return await guide.run(None, context, _client_info, context)


def _client_info(view: ProjectView, context: ToolContext) -> GuideResult:
    value: JsonObject = {
        "agent": context.agent_id,
        "agent_version": context.agent_version,
        # Only the 2026 protocol states its version in each request; a client with a session uses an older one.
        "protocol": context.metadata.get(_PROTOCOL),
        "session": context.session_id,
        "user": context.user_id,
        "project": view.project.name,
        "chosen_by": view.reason,
    }
    return GuideResult.ok({name: field for name, field in value.items() if field is not None})
