"""Export documents to a file, only in folders that the user has allowed.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Annotated

from pydantic import Field

from mcp_core import Example, Need, ToolArguments, ToolContext
from mcp_guide.export import export
from mcp_guide.guide import Guide, GuideResult
from mcp_guide.tools.fields import ADDS, Expression, Format, ProjectName


class ExportContentArgs(ToolArguments):
    """What to write, and where."""

    expression: Expression
    destination: Annotated[str, Field(description="Such as backend.md.")]
    format: Format = "plain"
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **ADDS,
    permissions=["documents:read", "documents:export"],
    tags=["content"],
    examples=[
        Example(
            "The backend documents as one file",
            {"expression": "backend", "destination": "backend.md"},
            {"file": "<text>", "size": "<number>", "documents": ["lang/python.md", "docs/api.md"]},
        )
    ],
)
async def export_content(args: ExportContentArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """Write content to a file.

    Use it for a new file in a folder the configuration allows.

    A file that exists is left alone.
    A folder is allowed by the person, in `export_folders` of the configuration file, and never by a tool.

    Returns:
        The file and its size.

    Usage:
        export_content(expression="backend", destination="/home/ana/exports/backend.md")
    """
    return await guide.run(args.project, context, export, args.expression, args.destination, args.format)
