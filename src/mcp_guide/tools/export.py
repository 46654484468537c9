"""Export documents to a file, only in folders that the user has allowed.

How a tool is documented: src/mcp_guide/tools/README.md
"""

import asyncio
from typing import Annotated, Literal

from pydantic import Field

from mcp_guide.content.export import export, find_existing
from mcp_guide.guide import Guide, GuideResult
from mcp_guide.tools import presets
from mcp_guide.tools.fields import Documents, Format, ProjectName
from toolcharter import Confirm, Example, ToolArguments, ToolContext


class ExportContentArgs(ToolArguments):
    """The documents to write, and the file."""

    expression: Documents
    destination: Annotated[str, Field(description="File to write, such as backend.md, in an allowed folder.")]
    format: Format = None
    user_consent: Annotated[
        Literal["REPLACE_FILE"] | None, Field(description="States that the user agreed to replace the file.")
    ] = None
    project: ProjectName = None


async def _file_to_replace(args: ExportContentArgs, guide: Guide) -> str | None:
    """The file, if it exists; nobody has to agree to a new one."""
    folders = (await guide.load_configuration()).export_folders
    return await asyncio.to_thread(find_existing, folders, args.destination)


# Documented as src/mcp_guide/tools/README.md shows.
@presets.adds(
    permissions=["documents:read", "documents:export"],
    tags=["content"],
    destructive=True,
    confirm=Confirm(ask="Replace the file {target}?", target=_file_to_replace),
    examples=[
        Example(
            "Export the backend documents as one file",
            {"expression": "backend", "destination": "backend.md"},
            {"file": "<text>", "size": "<number>", "documents": ["lang/python.md", "docs/api.md"]},
        )
    ],
)
async def export_content(args: ExportContentArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Write documents to a file.

    Use it to export or save guidelines to an allowed folder.

    An existing file is replaced only if the user agrees.
    If the client can, it asks the user; otherwise `user_consent` states that they agreed.
    Only the user can allow a folder, in `export_folders` of the configuration file.

    Returns:
        File and size.

    Usage:
        export_content(expression="backend", destination="/home/ana/exports/backend.md")
    """
    return await guide.run(
        args.project,
        context,
        export,
        args.expression,
        args.destination,
        args.format or "plain",
        may_replace=context.is_confirmed or args.user_consent is not None,
    )
