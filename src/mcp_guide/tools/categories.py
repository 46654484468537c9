"""Categories: a folder of documents and the patterns that select them by default.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Annotated, Literal

from pydantic import Field

from mcp_guide.configuration import changes
from mcp_guide.guide import Guide, GuideResult, JsonObject, ProjectView
from mcp_guide.model import Category, find_category, no_category
from mcp_guide.tools import presets
from mcp_guide.tools.fields import CONFIRMED, Description, ListArgs, NewName, ProjectName
from toolcharter import Confirm, Example, ToolArguments, ToolContext

Name = Annotated[str, Field(description="Name, such as lang.")]

LANG = {"name": "lang", "dir": "lang", "patterns": ["*.md"], "description": "How we write code."}
DECISIONS = {"name": "decisions", "dir": "docs/adr", "patterns": ["*.md"], "description": "Why things are so."}


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads(
    tags=["categories"],
    examples=[Example("Show one category", {"name": "lang"}, {"categories": [LANG]})],
)
async def list_categories(args: ListArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Show how the categories are configured.

    Use it before you change one: folder and default patterns of each, not their documents.

    Returns:
        Folder and patterns of each.

    Usage:
        list_categories()
        list_categories(name="lang")
    """
    return await guide.run(args.project, context, _list_categories, args.name)


def _list_categories(view: ProjectView, name: str | None) -> GuideResult:
    view.tree.require_root()
    categories = [find_category(view.project, name)] if name else list(view.project.categories.values())
    value = {"categories": [to_value(category) for category in categories]}
    return GuideResult.ok(value, None if categories else no_category(view.project))


class AddCategoryArgs(ToolArguments):
    """A new category."""

    name: Name
    dir: Annotated[str | None, Field(description="Its folder, such as lang.")] = None
    patterns: Annotated[list[str] | None, Field(description="Its documents by default, such as *.md.")] = None
    description: Description = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.adds(
    tags=["categories"],
    examples=[Example("A category for decisions", DECISIONS, DECISIONS)],
)
async def add_category(args: AddCategoryArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Add a new category.

    Use it to create a category for a folder of documents. Returns the category.

    Without `dir`, the folder has the name of the category. It is created with its first document.

    Usage:
        add_category(name="decisions", dir="docs/adr", patterns=["*.md"])
    """
    view = await guide.change_project(
        args.project,
        context,
        changes.add_category,
        args.name,
        dir=args.dir,
        patterns=args.patterns or (),
        description=args.description,
    )
    return view.result(to_value(view.project.categories[args.name]), f"Added the category {args.name!r}.")


class ChangeCategoryArgs(AddCategoryArgs):
    """A category, and what to change in it."""

    new_name: NewName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.changes(
    tags=["categories"],
    examples=[
        Example(
            "Rename a category; collections are updated",
            {"name": "lang", "new_name": "languages"},
            {**LANG, "name": "languages"},
        )
    ],
)
async def change_category(args: ChangeCategoryArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Change or rename a category.

    Use it to point a category at another folder, or for another name or patterns; omitted fields remain.

    Collections that name the category are updated when it is renamed.

    The result has the category.

    Usage:
        change_category(name="lang", patterns=["*.md", "*.txt"])
        change_category(name="lang", new_name="languages")
    """
    view = await guide.change_project(
        args.project,
        context,
        changes.change_category,
        args.name,
        new_name=args.new_name,
        dir=args.dir,
        patterns=args.patterns,
        description=args.description,
    )
    name = args.new_name or args.name
    return view.result(to_value(view.project.categories[name]), f"Changed the category {name!r}.")


class RemoveCategoryArgs(ToolArguments):
    """The category to remove."""

    name: Name
    explicit_action: Annotated[Literal["REMOVE_CATEGORY"], CONFIRMED]
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.removes(
    confirm=Confirm("REMOVE_CATEGORY"),
    tags=["categories"],
    examples=[
        Example(
            "Remove a category that is no longer needed",
            {"name": "checks", "explicit_action": "REMOVE_CATEGORY"},
            {"removed": "checks"},
        )
    ],
)
async def remove_category(args: RemoveCategoryArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Remove a category.

    Use it to drop a category; its files stay.

    The result has its name.

    Usage:
        remove_category(name="checks", explicit_action="REMOVE_CATEGORY")
    """
    view = await guide.change_project(args.project, context, changes.remove_category, args.name)
    return view.result({"removed": args.name}, f"Removed the category {args.name!r}. Its files were not deleted.")


def to_value(category: Category) -> JsonObject:
    """A category as results show it."""
    fields: JsonObject = {"name": category.name, "dir": category.dir, "patterns": list(category.patterns)}
    return fields | ({"description": category.description} if category.description else {})
