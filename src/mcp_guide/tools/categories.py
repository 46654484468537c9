"""Categories: a folder of documents and the patterns that its name alone stands for.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_core import Example, Need, ToolArguments, ToolContext
from mcp_guide import configuration_changes as changes
from mcp_guide.guide import Answer, Guide, View
from mcp_guide.model import Category, find_category
from mcp_guide.tools.fields import (
    ADDS,
    CHANGES,
    READS,
    REMOVES,
    About,
    NewName,
    OneName,
    ProjectName,
    Stated,
)

Dir = Annotated[str | None, Field(description="Its folder, such as lang.")]
Patterns = Annotated[
    list[str] | None,
    Field(description="Its documents, such as *.md."),
]

Name = Annotated[str, Field(description="Such as lang.")]

LANG = {"name": "lang", "dir": "lang", "patterns": ["*.md"], "description": "How we write code."}


class ListCategoriesArgs(ToolArguments):
    """Which categories to show."""

    name: OneName = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **READS,
    permissions=["projects:read"],
    tags=["categories"],
    examples=[Example("Show one category", {"name": "lang"}, {"categories": [LANG]})],
)
async def list_categories(args: ListCategoriesArgs, guide: Need[Guide], context: ToolContext) -> Answer:
    """List the categories.

    Use it to see which categories there are.

    Returns:
        Folder and patterns of each.

    Usage:
        list_categories()
        list_categories(name="lang")
    """
    return await guide.look(args.project, context, _listed, args.name)


def _listed(view: View, name: str | None) -> Answer:
    categories = [find_category(view.project, name)] if name else list(view.project.categories.values())
    return Answer.ok({"categories": [shown(category) for category in categories]})


class AddCategoryArgs(ToolArguments):
    """A new category."""

    name: Name
    dir: Dir = None
    patterns: Patterns = None
    description: About = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **ADDS,
    permissions=["projects:write"],
    tags=["categories"],
    examples=[
        Example(
            "A category for decisions",
            {"name": "decisions", "dir": "docs/adr", "patterns": ["*.md"], "description": "Why things are so."},
            {"name": "decisions", "dir": "docs/adr", "patterns": ["*.md"], "description": "Why things are so."},
        )
    ],
)
async def add_category(args: AddCategoryArgs, guide: Need[Guide], context: ToolContext) -> Answer:
    """Add a category.

    Use it to give a folder of documents a name. Returns the category.

    The folder is named as the category unless `dir` says otherwise, and is made with its first document.

    Usage:
        add_category(name="decisions", dir="docs/adr", patterns=["*.md"])
    """
    changed = await guide.change(
        args.project,
        context,
        changes.add_category,
        args.name,
        dir=args.dir,
        patterns=args.patterns or (),
        description=args.description,
    )
    return changed.answer(shown(changed.project.categories[args.name]), f"The category {args.name!r} is there.")


class ChangeCategoryArgs(ToolArguments):
    """A category, and what shall be different."""

    name: Name
    new_name: NewName = None
    dir: Dir = None
    patterns: Patterns = None
    description: About = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **CHANGES,
    permissions=["projects:write"],
    tags=["categories"],
    examples=[
        Example(
            "Call it by another name; collections follow",
            {"name": "lang", "new_name": "languages"},
            {**LANG, "name": "languages"},
        )
    ],
)
async def change_category(args: ChangeCategoryArgs, guide: Need[Guide], context: ToolContext) -> Answer:
    """Change or rename a category.

    Use it for another name, folder or patterns; what is left out stays.

    What is left out stays. Collections that name the category follow a new name.

    The answer has the category.

    Usage:
        change_category(name="lang", patterns=["*.md", "*.txt"])
        change_category(name="lang", new_name="languages")
    """
    changed = await guide.change(
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
    return changed.answer(shown(changed.project.categories[name]), f"The category {name!r} is changed.")


class RemoveCategoryArgs(ToolArguments):
    """A category that shall go."""

    name: Name
    explicit_action: Annotated[Literal["REMOVE_CATEGORY"], Stated]
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **REMOVES,
    permissions=["projects:write"],
    consent="REMOVE_CATEGORY",
    tags=["categories"],
    examples=[
        Example(
            "Checks are no longer needed",
            {"name": "checks", "explicit_action": "REMOVE_CATEGORY"},
            {"removed": "checks"},
        )
    ],
)
async def remove_category(args: RemoveCategoryArgs, guide: Need[Guide], context: ToolContext) -> Answer:
    """Remove a category.

    Use it to drop the name; the files stay.

    The answer has its name.

    Usage:
        remove_category(name="checks", explicit_action="REMOVE_CATEGORY")
    """
    changed = await guide.change(args.project, context, changes.remove_category, args.name)
    return changed.answer({"removed": args.name}, f"The category {args.name!r} is removed; its files are still there.")


def shown(category: Category) -> dict[str, Any]:
    """A category as answers show it."""
    fields: dict[str, Any] = {"name": category.name, "dir": category.dir, "patterns": list(category.patterns)}
    return fields | ({"description": category.description} if category.description else {})
