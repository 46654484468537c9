"""Projects: which there are, which one is meant, and what is set up in it.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_core import Conflict, Example, InvalidArguments, Need, ToolArguments, ToolContext
from mcp_guide import configuration_changes as changes
from mcp_guide.guide import Answer, Guide, View
from mcp_guide.model import Configuration, Project, find_project, project_names
from mcp_guide.tools import categories, collections
from mcp_guide.tools.fields import ADDS, CHANGES, READS, REMOVES, NewName, ProjectName, Stated

Known = Annotated[str, Field(description="Such as shop.")]
New = Annotated[str, Field(description="Such as blog.")]
Folder = Annotated[str | None, Field(description="Where its work is done.")]


class ListProjectsArgs(ToolArguments):
    """Which projects to list."""

    containing: Annotated[str | None, Field(description="Only names with this.")] = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **READS,
    permissions=["projects:read"],
    tags=["projects"],
    examples=[
        Example(
            "All projects, and the active one",
            {},
            {
                "projects": [
                    {"name": "default", "mode": "DISCUSSION"},
                    {"name": "shop", "mode": "DISCUSSION", "folder": "<text>"},
                ],
                "active": "shop",
            },
        )
    ],
)
async def list_projects(args: ListProjectsArgs, guide: Need[Guide], context: ToolContext) -> Answer:
    """List all projects.

    Use it to see which projects there are, and which is active.

    Returns:
        Name and mode of each.

    Usage:
        list_projects()
    """
    return await guide.look(None, context, _listed, args.containing)


def _listed(view: View, containing: str | None) -> Answer:
    known = [find_project(view.configuration, name) for name in project_names(view.configuration)]
    listed = [_brief(project) for project in known if containing is None or containing in project.name]
    return Answer.ok({"projects": listed, "active": view.project.name})


class GetProjectConfigArgs(ToolArguments):
    """Whose configuration."""

    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **READS,
    permissions=["projects:read"],
    tags=["projects"],
    examples=[
        Example(
            "All of one project",
            {"project": "shop"},
            {
                "name": "shop",
                "mode": "DISCUSSION",
                "folder": "<text>",
                "docs_root": "<text>",
                "categories": "<any>",
                "collections": [collections.BACKEND],
                "flags": {"strict": True},
            },
        )
    ],
)
async def get_project_config(args: GetProjectConfigArgs, guide: Need[Guide], context: ToolContext) -> Answer:
    """Show the configuration of a project.

    Use it to see all settings.

    Returns:
        Its mode, categories, collections and flags.

    Usage:
        get_project_config()
        get_project_config(project="shop")
    """
    return await guide.look(args.project, context, _configured)


def _configured(view: View) -> Answer:
    project = view.project
    value = _brief(project) | {
        "docs_root": str(view.root),
        "categories": [categories.shown(category) for category in project.categories.values()],
        "collections": [collections.shown(collection) for collection in project.collections.values()],
        "flags": dict(project.flags),
    }
    return Answer.ok(value, instruction="Review the configuration before making changes.")


class SetProjectArgs(ToolArguments):
    """Which project is meant from now on."""

    project: Known


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **CHANGES,
    permissions=["projects:read"],
    tags=["projects"],
    examples=[
        Example("Work on the shop", {"project": "shop"}, {"name": "shop", "mode": "DISCUSSION", "folder": "<text>"})
    ],
)
async def set_project(args: SetProjectArgs, guide: Need[Guide], context: ToolContext) -> Answer:
    """Switch to another project.

    Use it to work on that one from now on.

    Only a project that exists can be chosen. The choice holds for this session; files are not changed.

    The answer has its name and mode.

    Usage:
        set_project(project="shop")
    """
    return await guide.choose(args.project, context, _chosen)


def _chosen(view: View) -> Answer:
    return Answer.ok(_brief(view.project), f"The active project is {view.project.name!r}.")


class CloneProjectArgs(ToolArguments):
    """A project made from another."""

    name: New
    source: ProjectName = None
    folder: Folder = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **ADDS,
    permissions=["projects:write"],
    tags=["projects"],
    examples=[
        Example(
            "The blog begins as the shop did",
            {"name": "blog", "source": "shop"},
            {"name": "blog", "mode": "DISCUSSION"},
        )
    ],
)
async def clone_project(args: CloneProjectArgs, guide: Need[Guide], context: ToolContext) -> Answer:
    """Make a new project as a copy.

    Use it to begin with what another has, or from default, which is empty. Returns the new one.

    Categories, collections, flags and document root are copied; the mode is DISCUSSION.

    The answer has name and mode of the copy.

    Usage:
        clone_project(name="blog", source="shop")
    """
    source = (await guide.seen(args.source, context)).project.name
    after = await guide.change_all(changes.clone_project, source, args.name, folder=_path(args.folder))
    return Answer.ok(_brief(after.projects[args.name]), f"The project {args.name!r} is a copy of {source!r}.")


class ChangeProjectArgs(ToolArguments):
    """A project, and what shall be different."""

    project: Known
    new_name: NewName = None
    folder: Folder = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **CHANGES,
    permissions=["projects:write"],
    tags=["projects"],
    examples=[
        Example(
            "Another name",
            {"project": "shop", "new_name": "store"},
            {"name": "store", "mode": "DISCUSSION", "folder": "<text>"},
        )
    ],
)
async def change_project(args: ChangeProjectArgs, guide: Need[Guide]) -> Answer:
    """Rename or move a project.

    Use it to give a project another name or folder.

    The answer has its name and mode.

    Usage:
        change_project(project="shop", new_name="store")
    """
    after = await guide.change_all(_changed, args.project, args.new_name, _path(args.folder))
    name = args.new_name or args.project
    return Answer.ok(_brief(after.projects[name]), f"The project {name!r} is changed.")


def _changed(before: Configuration, name: str, new_name: str | None, folder: Path | None) -> Configuration:
    after = before
    if folder is not None:
        others = [one.name for one in before.projects.values() if one.folder == folder and one.name != name]
        if others:
            raise Conflict(f"The folder {folder} belongs to project {others[0]!r} already.")
        after = changes.change_project(after, name, lambda project: replace(project, folder=folder))
    if new_name is not None and new_name != name:
        after = changes.rename_project(after, name, new_name)
    if after is before:
        raise InvalidArguments("Nothing to change: give new_name, folder or both.", fields=["new_name", "folder"])
    return after


class RemoveProjectArgs(ToolArguments):
    """A project that shall go."""

    project: Known
    explicit_action: Annotated[Literal["REMOVE_PROJECT"], Stated]


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **REMOVES,
    permissions=["projects:write"],
    consent="REMOVE_PROJECT",
    confirm="if_possible",
    question="Remove the configuration of the project {project}? Its files stay.",
    tags=["projects"],
    examples=[
        Example(
            "The shop is closed",
            {"project": "shop", "explicit_action": "REMOVE_PROJECT"},
            {"removed": "shop"},
        )
    ],
)
async def remove_project(args: RemoveProjectArgs, guide: Need[Guide]) -> Answer:
    """Remove a project from the configuration.

    Use it to forget a project; its files stay.

    The answer has its name.

    Usage:
        remove_project(project="shop", explicit_action="REMOVE_PROJECT")
    """
    await guide.change_all(changes.remove_project, args.project)
    return Answer.ok({"removed": args.project}, f"The project {args.project!r} is removed; its files are still there.")


def _brief(project: Project) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": project.name, "mode": project.mode}
    return fields | ({"folder": str(project.folder)} if project.folder else {})


def _path(folder: str | None) -> Path | None:
    if folder is None:
        return None
    path = Path(folder).expanduser()
    if not path.is_absolute():
        raise InvalidArguments(f"The folder {folder!r} is no absolute path; write it in full.", fields=["folder"])
    return path
