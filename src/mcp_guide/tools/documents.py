"""Create, update and delete documents. Each needs the explicit request of the user.

How a tool is documented: src/mcp_guide/tools/README.md
"""

import asyncio
from typing import Annotated, Literal

from pydantic import Field

from mcp_guide.content import changes
from mcp_guide.guide import Guide, GuideResult
from mcp_guide.tools import presets
from mcp_guide.tools.fields import CONFIRMED, ProjectName
from toolcharter import Confirm, Example, ToolArguments, ToolContext


class DocumentArgs(ToolArguments):
    """A document in a category."""

    category_dir: Annotated[str, Field(description="Category, such as lang.")]
    name: Annotated[str, Field(max_length=100, description="File, such as python.md.")]


class DocumentTextArgs(DocumentArgs):
    """A document, and its whole text."""

    content: Annotated[str, Field(max_length=1_000_000, description="Markdown, front matter optional.")]


class CreateDocumentArgs(DocumentTextArgs):
    """A new document."""

    explicit_action: Annotated[Literal["CREATE_DOCUMENT"], CONFIRMED]
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.adds(
    permissions=["documents:write"],
    confirm=Confirm("CREATE_DOCUMENT"),
    destructive=False,
    tags=["documents"],
    examples=[
        Example(
            "Create a guideline for Go",
            {
                "category_dir": "lang",
                "name": "go",
                "content": "# Go\n\nRun gofmt.\n",
                "explicit_action": "CREATE_DOCUMENT",
            },
            {"path": "lang/go.md", "size": 17},
        )
    ],
)
async def create_document(args: CreateDocumentArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Create a new document in a category.

    Use it to write, save or add a new guideline, note or file.

    The document is a file in the folder of the category, which people can edit and commit.
    An existing document is never overwritten.

    The result has its path and size.

    Usage:
        create_document(category_dir="lang", name="go", content="# Go", explicit_action="CREATE_DOCUMENT")
    """
    return await guide.run(args.project, context, changes.create, args.category_dir, args.name, args.content)


class UpdateDocumentArgs(DocumentTextArgs):
    """An existing document, and its new text."""

    explicit_action: Annotated[Literal["UPDATE_DOCUMENT"], CONFIRMED]
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.changes(
    permissions=["documents:write"],
    confirm=Confirm("UPDATE_DOCUMENT"),
    tags=["documents"],
    examples=[
        Example(
            "Change the rule for Rust",
            {
                "category_dir": "lang",
                "name": "rust.md",
                "content": "# Rust\n\nRun clippy.\n",
                "explicit_action": "UPDATE_DOCUMENT",
            },
            {"path": "lang/rust.md", "size": 20},
        )
    ],
)
async def update_document(args: UpdateDocumentArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Replace the text of a document.

    Use it to edit, change or rewrite one; the old text is overwritten.

    Read the document first: front matter that is not in the new text is lost too.

    The result has its path and size.

    Usage:
        update_document(category_dir="lang", name="go", content="# Go 2", explicit_action="UPDATE_DOCUMENT")
    """
    return await guide.run(args.project, context, changes.update, args.category_dir, args.name, args.content)


class DeleteDocumentArgs(DocumentArgs):
    """The document to delete."""

    explicit_action: Annotated[Literal["DELETE_DOCUMENT"], CONFIRMED]
    project: ProjectName = None


async def _document_to_delete(args: DeleteDocumentArgs, guide: Guide, context: ToolContext) -> str:
    """The document, which must exist before anybody is asked about it."""

    def find() -> str:
        path = changes.find(view, args.category_dir, args.name)
        return f"{path} of the project {view.project.name}"

    view = await guide.load_view(args.project, context)
    return await asyncio.to_thread(find)


# Documented as src/mcp_guide/tools/README.md shows.
@presets.removes(
    permissions=["documents:write"],
    confirm=Confirm(
        "DELETE_DOCUMENT",
        ask="Delete the document {target} permanently?",
        target=_document_to_delete,
    ),
    tags=["documents"],
    examples=[
        Example(
            "Delete the guideline for Rust",
            {"category_dir": "lang", "name": "rust", "explicit_action": "DELETE_DOCUMENT"},
            {"path": "lang/rust.md"},
        )
    ],
)
async def delete_document(args: DeleteDocumentArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Delete a document permanently.

    Use it to remove a file or page that is outdated.

    The result has its path.

    Usage:
        delete_document(category_dir="lang", name="go", explicit_action="DELETE_DOCUMENT")
    """
    return await guide.run(args.project, context, changes.delete, args.category_dir, args.name)
