"""Create, update and delete documents. Each needs the explicit request of the user.

How a tool is documented: src/mcp_guide/tools/README.md
"""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from mcp_guide.content import changes
from mcp_guide.guide import Guide, GuideResult
from mcp_guide.tools import presets
from mcp_guide.tools.fields import CONFIRMED, GuessedArguments, ProjectName
from toolcharter import Confirm, Example, ToolContext


class DocumentArgs(GuessedArguments):
    """A document in a category."""

    guesses: ClassVar[Mapping[str, str]] = {
        "category": "category_dir",
        "text": "content",
        "file": "path",
        "document": "path",
        "expression": "path",
    }

    category_dir: Annotated[str, Field(description="Document's category, such as lang.")]
    name: Annotated[str, Field(min_length=1, max_length=500, description="File in the category, such as go.md.")]

    @classmethod
    def complete(cls, given: dict[str, Any]) -> dict[str, Any]:
        """A path is the category and the name in one."""
        path = given.get("path")
        if not isinstance(path, str) or "/" not in path or "category_dir" in given or "name" in given:
            return given
        category, _, name = path.removeprefix("guide://").partition("/")
        rest = {key: value for key, value in given.items() if key != "path"}
        return {**rest, "category_dir": category, "name": name}


class CreateDocumentArgs(DocumentArgs):
    """A new document."""

    content: Annotated[str, Field(max_length=1_000_000, description="Its text in Markdown, with front matter or not.")]
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


class UpdateDocumentArgs(DocumentArgs):
    """An existing document, and what to change in it."""

    guesses: ClassVar[Mapping[str, str]] = {
        **DocumentArgs.guesses,
        **dict.fromkeys(("old_string", "old", "find"), "old_text"),
        **dict.fromkeys(("new_string", "new", "replace"), "new_text"),
        "heading": "section",
    }

    explicit_action: Annotated[Literal["UPDATE_DOCUMENT"], CONFIRMED]
    old_text: Annotated[
        str | None, Field(max_length=100_000, description="Words to replace; must occur exactly once.")
    ] = None
    new_text: Annotated[
        str | None, Field(max_length=1_000_000, description="What replaces old_text; may be empty.")
    ] = None
    section: Annotated[
        str | None, Field(description="Heading or id of the section to change; content is its new text.")
    ] = None
    content: Annotated[
        str | None, Field(max_length=1_000_000, description="New text of the section, or with version of the whole.")
    ] = None
    version: Annotated[
        str | None, Field(description="Version that you read (get_outline); an edit of a later one is refused.")
    ] = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.changes(
    permissions=["documents:write"],
    confirm=Confirm("UPDATE_DOCUMENT"),
    tags=["documents"],
    examples=[
        Example(
            "Change some words",
            {
                "category_dir": "lang",
                "name": "rust.md",
                "old_text": "cargo fmt",
                "new_text": "cargo fmt and clippy",
                "explicit_action": "UPDATE_DOCUMENT",
            },
            {"path": "lang/rust.md", "version": "<text>", "diff": "-Run cargo fmt.\n+Run cargo fmt and clippy."},
        ),
        Example(
            "Write a section anew",
            {
                "category_dir": "docs",
                "name": "api",
                "section": "API",
                "content": "Every URL begins with /v2.",
                "explicit_action": "UPDATE_DOCUMENT",
            },
            {"path": "docs/api.md", "version": "<text>", "diff": "<text>"},
        ),
    ],
)
async def update_document(args: UpdateDocumentArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Edit a document: words, a section, or all of it.

    Use it to change, edit or rewrite text: old_text and new_text, or a section and content. Returns the changed lines.

    The rest and the front matter stay as they are. To replace the whole text, send `content` with the `version` that
    you read: what somebody changed in between is never overwritten.

    The result has the new version and the changed lines.

    Usage:
        update_document(category_dir="lang", name="go", old_text="gofmt", new_text="gofumpt", explicit_action="UPDATE_DOCUMENT")
        update_document(category_dir="lang", name="go", section="Naming", content="Short names.", explicit_action="UPDATE_DOCUMENT")
    """  # noqa: E501 - calls are not wrapped
    edit = changes.Edit(args.old_text, args.new_text, args.section, args.content, args.version)
    return await guide.run(args.project, context, changes.update, args.category_dir, args.name, edit)


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
