"""Collections: named lists of expressions, such as everything about the backend.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Annotated, Literal

from pydantic import Field

from mcp_core import Example, Need, ToolArguments, ToolContext
from mcp_guide import configuration_changes as changes
from mcp_guide.guide import Guide, GuideResult, JsonObject, ProjectView
from mcp_guide.model import NO_COLLECTION, Collection, find_collection
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

_ABOUT = "What it gives, such as lang/python."
Name = Annotated[str, Field(description="Such as backend.")]
Expressions = Annotated[list[str], Field(description=_ABOUT)]
NewExpressions = Annotated[list[str] | None, Field(description=_ABOUT)]

BACKEND = {"name": "backend", "expressions": ["lang/python", "docs/api"], "description": "For work on the server."}


class ListCollectionsArgs(ToolArguments):
    """Which collections to show."""

    name: OneName = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **READS,
    permissions=["projects:read"],
    tags=["collections"],
    examples=[Example("All collections", {}, {"collections": [BACKEND]})],
)
async def list_collections(args: ListCollectionsArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """List the collections.

    Use it to see which collections there are.

    Returns:
        Expressions of each.

    Usage:
        list_collections()
        list_collections(name="backend")
    """
    return await guide.run(args.project, context, _list_collections, args.name)


def _list_collections(view: ProjectView, name: str | None) -> GuideResult:
    collections = [find_collection(view.project, name)] if name else list(view.project.collections.values())
    value = {"collections": [to_value(collection) for collection in collections]}
    return GuideResult.ok(value, None if collections else NO_COLLECTION)


class AddCollectionArgs(ToolArguments):
    """A new collection."""

    name: Name
    expressions: Expressions
    description: About = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **ADDS,
    permissions=["projects:write"],
    tags=["collections"],
    examples=[
        Example(
            "What a reviewer reads",
            {"name": "review", "expressions": ["guidelines", "backend"]},
            {"name": "review", "expressions": ["guidelines", "backend"]},
        )
    ],
)
async def add_collection(args: AddCollectionArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """Add a collection.

    Use it to give several expressions one name. Returns the collection.

    Usage:
        add_collection(name="review", expressions=["guidelines", "lang/python"])
    """
    view = await guide.change_project(
        args.project, context, changes.add_collection, args.name, args.expressions, description=args.description
    )
    return view.result(to_value(view.project.collections[args.name]), f"Added the collection {args.name!r}.")


class ChangeCollectionArgs(ToolArguments):
    """A collection, and what shall be different."""

    name: Name
    new_name: NewName = None
    expressions: NewExpressions = None
    description: About = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **CHANGES,
    permissions=["projects:write"],
    tags=["collections"],
    examples=[
        Example(
            "The server work needs the guidelines too",
            {"name": "backend", "expressions": ["lang/python", "docs/api", "guidelines"]},
            {**BACKEND, "expressions": ["lang/python", "docs/api", "guidelines"]},
        )
    ],
)
async def change_collection(args: ChangeCollectionArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """Change or rename a collection.

    Use it for other expressions or another name; what is left out stays.

    What is left out stays. Collections that name this one follow a new name.

    The answer has the collection.

    Usage:
        change_collection(name="backend", expressions=["lang/python"])
    """
    view = await guide.change_project(
        args.project,
        context,
        changes.change_collection,
        args.name,
        new_name=args.new_name,
        expressions=args.expressions,
        description=args.description,
    )
    name = args.new_name or args.name
    return view.result(to_value(view.project.collections[name]), f"Changed the collection {name!r}.")


class RemoveCollectionArgs(ToolArguments):
    """A collection that shall go."""

    name: Name
    explicit_action: Annotated[Literal["REMOVE_COLLECTION"], Stated]
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **REMOVES,
    permissions=["projects:write"],
    consent="REMOVE_COLLECTION",
    tags=["collections"],
    examples=[
        Example("One name less", {"name": "backend", "explicit_action": "REMOVE_COLLECTION"}, {"removed": "backend"})
    ],
)
async def remove_collection(args: RemoveCollectionArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """Remove a collection.

    Use it to undo add_collection; its documents stay.

    The answer has its name.

    Usage:
        remove_collection(name="backend", explicit_action="REMOVE_COLLECTION")
    """
    view = await guide.change_project(args.project, context, changes.remove_collection, args.name)
    return view.result({"removed": args.name}, f"Removed the collection {args.name!r}.")


def to_value(collection: Collection) -> JsonObject:
    """A collection as results show it."""
    fields: JsonObject = {"name": collection.name, "expressions": list(collection.expressions)}
    return fields | ({"description": collection.description} if collection.description else {})
