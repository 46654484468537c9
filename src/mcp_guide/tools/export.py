"""Export documents to a file, only in folders that the user has allowed.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Annotated

from pydantic import Field

from mcp_guide.export import export
from mcp_guide.guide import Guide, GuideResult
from mcp_guide.tools import presets
from mcp_guide.tools.fields import Expression, Format, ProjectName
from toolcharter import Example, Need, ToolArguments, ToolContext


class ExportContentArgs(ToolArguments):
    """What to write, and where."""

    expression: Expression
    destination: Annotated[str, Field(description="File, such as backend.md.")]
    format: Format = "plain"
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.adds(
    permissions=["documents:read", "documents:export"],
    tags=["content"],
    examples=[
        Example(
            "Export the backend documents as one file",
            {"expression": "backend", "destination": "backend.md"},
            {"file": "<text>", "size": "<number>", "documents": ["lang/python.md", "docs/api.md"]},
        )
    ],
)
async def export_content(args: ExportContentArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """Write documents to a file.

    Use it to export them as a new file in an allowed folder.

    An existing file is not changed.
    Only the user can allow a folder, in `export_folders` of the configuration file.

    Returns:
        The file and its size.

    Usage:
        export_content(expression="backend", destination="/home/ana/exports/backend.md")
    """
    return await guide.run(args.project, context, export, args.expression, args.destination, args.format)
