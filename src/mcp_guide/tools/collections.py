"""Collections: named lists of expressions, such as everything about the backend.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Annotated, Literal

from pydantic import Field

from mcp_guide.configuration import changes
from mcp_guide.guide import Guide, GuideResult, JsonObject, ProjectView
from mcp_guide.model import NO_COLLECTION, Collection, find_collection
from mcp_guide.tools import presets
from mcp_guide.tools.fields import CONFIRMED, Description, ListArgs, NewName, ProjectName
from toolcharter import Confirm, Example, ToolArguments, ToolContext

EXPRESSIONS = Field(description="Its contents, such as lang/python.")

Name = Annotated[str, Field(description="Name, such as backend.")]

BACKEND = {"name": "backend", "expressions": ["lang/python", "docs/api"], "description": "For work on the server."}
REVIEW = {"name": "review", "expressions": ["guidelines", "backend"]}


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads(
    tags=["collections"],
    examples=[Example("All collections", {}, {"collections": [BACKEND]})],
)
async def list_collections(args: ListArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """List the collections.

    Use it to see which collections there are.

    Returns:
        What each contains.

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
    expressions: Annotated[list[str], EXPRESSIONS]
    description: Description = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.adds(
    tags=["collections"],
    examples=[Example("A collection for reviewers", REVIEW, REVIEW)],
)
async def add_collection(args: AddCollectionArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Add a new collection.

    Use it to bundle or group guidelines of several categories under one name. Returns the collection.

    Usage:
        add_collection(name="review", expressions=["guidelines", "lang/python"])
    """
    view = await guide.change_project(
        args.project, context, changes.add_collection, args.name, args.expressions, description=args.description
    )
    return view.result(to_value(view.project.collections[args.name]), f"Added the collection {args.name!r}.")


class ChangeCollectionArgs(ToolArguments):
    """A collection, and what to change in it."""

    name: Name
    new_name: NewName = None
    expressions: Annotated[list[str] | None, EXPRESSIONS] = None
    description: Description = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.changes(
    tags=["collections"],
    examples=[
        Example(
            "Add the guidelines to a collection",
            {"name": "backend", "expressions": ["lang/python", "docs/api", "guidelines"]},
            {**BACKEND, "expressions": ["lang/python", "docs/api", "guidelines"]},
        )
    ],
)
async def change_collection(args: ChangeCollectionArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Change or rename a collection.

    Use it to add documents to a collection or take them out of it; omitted fields remain.

    Collections that name this one are updated when it is renamed.

    The result has the collection.

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
    """The collection to remove."""

    name: Name
    explicit_action: Annotated[Literal["REMOVE_COLLECTION"], CONFIRMED]
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.removes(
    confirm=Confirm("REMOVE_COLLECTION"),
    tags=["collections"],
    examples=[
        Example(
            "Remove a collection", {"name": "backend", "explicit_action": "REMOVE_COLLECTION"}, {"removed": "backend"}
        )
    ],
)
async def remove_collection(args: RemoveCollectionArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Remove a collection.

    Use it to drop a collection; its documents stay.

    The result has its name.

    Usage:
        remove_collection(name="backend", explicit_action="REMOVE_COLLECTION")
    """
    view = await guide.change_project(args.project, context, changes.remove_collection, args.name)
    return view.result({"removed": args.name}, f"Removed the collection {args.name!r}.")


def to_value(collection: Collection) -> JsonObject:
    """A collection as results show it."""
    fields: JsonObject = {"name": collection.name, "expressions": list(collection.expressions)}
    return fields | ({"description": collection.description} if collection.description else {})
