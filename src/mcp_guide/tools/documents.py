"""Create, update and delete documents. Each needs the explicit request of the user.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Annotated, Literal

from pydantic import Field

from mcp_core import Example, Need, ToolArguments, ToolContext
from mcp_guide import document_changes
from mcp_guide.guide import Guide, GuideResult
from mcp_guide.tools.fields import ADDS, CHANGES, MAX_DOCUMENT_LENGTH, REMOVES, ProjectName, Stated

CategoryDir = Annotated[str, Field(description="Category, such as lang.")]
DocumentName = Annotated[str, Field(max_length=100, description="Such as python.md.")]
Text = Annotated[str, Field(max_length=MAX_DOCUMENT_LENGTH, description="Markdown, with front matter if need be.")]


class CreateDocumentArgs(ToolArguments):
    """A new document."""

    category_dir: CategoryDir
    name: DocumentName
    content: Text
    explicit_action: Annotated[Literal["CREATE_DOCUMENT"], Stated]
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **ADDS,
    permissions=["documents:write"],
    consent="CREATE_DOCUMENT",
    destructive=False,
    tags=["documents"],
    examples=[
        Example(
            "Write down how we write Go",
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
async def create_document(args: CreateDocumentArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """Create a new document in a category.

    Use it to write or save a new file.

    The document is a file in the folder of the category, which people can edit and commit.
    A document that exists is never overwritten.

    The answer has its path and size.

    Usage:
        create_document(category_dir="lang", name="go", content="# Go", explicit_action="CREATE_DOCUMENT")
    """
    return await guide.run(args.project, context, document_changes.create, args.category_dir, args.name, args.content)


class UpdateDocumentArgs(ToolArguments):
    """A document, and what shall stand in it."""

    category_dir: CategoryDir
    name: DocumentName
    content: Text
    explicit_action: Annotated[Literal["UPDATE_DOCUMENT"], Stated]
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **CHANGES,
    permissions=["documents:write"],
    consent="UPDATE_DOCUMENT",
    tags=["documents"],
    examples=[
        Example(
            "Another rule for Rust",
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
async def update_document(args: UpdateDocumentArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """Replace the text of a document.

    Use it to change or rewrite one; the old text is overwritten.

    Read the document first: front matter that is not in the new text is gone too.

    The answer has its path and size.

    Usage:
        update_document(category_dir="lang", name="go", content="# Go 2", explicit_action="UPDATE_DOCUMENT")
    """
    return await guide.run(args.project, context, document_changes.update, args.category_dir, args.name, args.content)


class DeleteDocumentArgs(ToolArguments):
    """A document that shall go."""

    category_dir: CategoryDir
    name: DocumentName
    explicit_action: Annotated[Literal["DELETE_DOCUMENT"], Stated]
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **REMOVES,
    permissions=["documents:write"],
    consent="DELETE_DOCUMENT",
    confirm="if_possible",
    question="Delete the document {name} in {category_dir} for good?",
    tags=["documents"],
    examples=[
        Example(
            "Rust is no longer used",
            {"category_dir": "lang", "name": "rust", "explicit_action": "DELETE_DOCUMENT"},
            {"path": "lang/rust.md"},
        )
    ],
)
async def delete_document(args: DeleteDocumentArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """Delete a document for good.

    Use it for one document.

    The answer has its path.

    Usage:
        delete_document(category_dir="lang", name="go", explicit_action="DELETE_DOCUMENT")
    """
    return await guide.run(args.project, context, document_changes.delete, args.category_dir, args.name)
