"""Projects: list, select, copy, change and remove them, and show their configuration.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from mcp_guide.configuration import changes
from mcp_guide.guide import Guide, GuideResult, JsonObject, ProjectView
from mcp_guide.model import Configuration, Mode, Project, find_project, project_names
from mcp_guide.tools import categories, collections, presets
from mcp_guide.tools.fields import CONFIRMED, NamePart, NewName, ProjectName
from toolcharter import Confirm, Example, InvalidArguments, ToolArguments, ToolContext

ExistingProject = Annotated[str, Field(description="Name, such as shop.")]
Folder = Annotated[str | None, Field(description="Absolute path of the folder that agents work in.")]


class ListProjectsArgs(ToolArguments):
    """Which projects to list."""

    containing: NamePart = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads(
    tags=["projects"],
    examples=[
        Example(
            "All projects, and the active one",
            {},
            {
                "projects": [
                    {"name": "default"},
                    {"name": "shop", "folder": "<text>"},
                ],
                "active": "shop",
            },
        )
    ],
)
async def list_projects(args: ListProjectsArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """List all projects.

    Use it to see which projects exist, or which to switch to.

    Returns:
        Name and mode of each.

    Usage:
        list_projects()
    """
    return await guide.run(None, context, _list_projects, args.containing)


def _list_projects(view: ProjectView, containing: str | None) -> GuideResult:
    names = [name for name in project_names(view.configuration) if containing is None or containing in name]
    projects = [find_project(view.configuration, name) for name in names]
    listed = [_summary(project, view.mode_of(project)) for project in projects]
    message = None if listed else f"No project name contains {containing!r}."
    return GuideResult.ok({"projects": listed, "active": view.project.name}, message)


class GetProjectConfigArgs(ToolArguments):
    """The project."""

    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads(
    tags=["projects"],
    examples=[
        Example(
            "The configuration of one project",
            {"project": "shop"},
            {
                "name": "shop",
                "folder": "<text>",
                "chosen_by": "argument",
                "docs_root": "<text>",
                "categories": "<any>",
                "collections": [collections.BACKEND],
                "flags": {"strict": True},
            },
        )
    ],
)
async def get_project_config(args: GetProjectConfigArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Show which project is active, and its settings.

    Use it to know which project you are in and why, or to see another.

    Returns:
        Its mode, categories, collections and flags.

    Usage:
        get_project_config()
        get_project_config(project="shop")
    """
    return await guide.run(args.project, context, _get_configuration)


def _get_configuration(view: ProjectView) -> GuideResult:
    project = view.project
    value = _summary(project, view.mode) | {
        "chosen_by": view.reason,
        "docs_root": str(view.root),
        "categories": [categories.to_value(category) for category in project.categories.values()],
        "collections": [collections.to_value(collection) for collection in project.collections.values()],
        "flags": dict(project.flags),
    }
    return GuideResult.ok(value, instruction="Review the configuration before making changes.")


class SetProjectArgs(ToolArguments):
    """The project to make active."""

    project: ExistingProject


# Documented as src/mcp_guide/tools/README.md shows.
@presets.changes(
    permissions=["projects:read"],
    tags=["projects"],
    examples=[Example("Switch to the shop", {"project": "shop"}, {"name": "shop", "folder": "<text>"})],
)
async def set_project(args: SetProjectArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Switch to another project.

    Use it to work there from now on.

    The project must exist. The selection applies to this session; no file is changed.

    The result has its name and mode.

    Usage:
        set_project(project="shop")
    """
    return await guide.select_project(args.project, context, _get_active)


def _get_active(view: ProjectView) -> GuideResult:
    return GuideResult.ok(_summary(view.project, view.mode), f"The active project is now {view.project.name!r}.")


class CloneProjectArgs(ToolArguments):
    """A new project, copied from another."""

    name: Annotated[str, Field(description="Name, such as blog.")]
    source: ProjectName = None
    folder: Folder = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.adds(
    tags=["projects"],
    examples=[
        Example(
            "Start the blog with the settings of the shop",
            {"name": "blog", "source": "shop"},
            {"name": "blog"},
        )
    ],
)
async def clone_project(args: CloneProjectArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Make a new project as a copy.

    Use it to copy another project with its settings, or default, which is empty. Returns the new one.

    Categories, collections, flags and document root are copied; the mode is not.

    The result has the name and mode of the new project.

    Usage:
        clone_project(name="blog", source="shop")
    """
    source = (await guide.load_view(args.source, context)).project.name
    folder = _absolute_path(args.folder)
    after = await guide.change_configuration(changes.clone_project, source, args.name, folder=folder)
    guide.active.forget_modes(args.name)
    project = after.projects[args.name]
    return GuideResult.ok(_summary(project, project.mode), f"Created the project {args.name!r} from {source!r}.")


class ChangeProjectArgs(ToolArguments):
    """A project, and what to change in it."""

    project: ExistingProject
    new_name: NewName = None
    folder: Folder = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.changes(
    tags=["projects"],
    examples=[
        Example(
            "Rename a project",
            {"project": "shop", "new_name": "store"},
            {"name": "store", "folder": "<text>"},
        )
    ],
)
async def change_project(args: ChangeProjectArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Rename or move a project.

    Use it to give a project another name or folder.

    The result has its name and mode.

    Usage:
        change_project(project="shop", new_name="store")
    """
    await guide.change_configuration(_rename_or_move, args.project, args.new_name, _absolute_path(args.folder))
    name = args.new_name or args.project
    if name != args.project:
        guide.active.forget_modes(name)
    view = await guide.load_view(name, context)
    return GuideResult.ok(_summary(view.project, view.mode), f"Changed the project {name!r}.")


def _rename_or_move(before: Configuration, name: str, new_name: str | None, folder: Path | None) -> Configuration:
    after = before
    if folder is not None:
        after = changes.move_project(after, name, folder)
    if new_name is not None and new_name != name:
        after = changes.rename_project(after, name, new_name)
    if after is before:
        raise InvalidArguments("Nothing to change. Set new_name, folder or both.", fields=["new_name", "folder"])
    return after


class RemoveProjectArgs(ToolArguments):
    """The project to remove."""

    project: ExistingProject
    explicit_action: Annotated[Literal["REMOVE_PROJECT"], CONFIRMED]


# Documented as src/mcp_guide/tools/README.md shows.
@presets.removes(
    confirm=Confirm("REMOVE_PROJECT", ask="Remove the configuration of the project {project}? Its files stay."),
    tags=["projects"],
    examples=[
        Example(
            "Remove a project",
            {"project": "shop", "explicit_action": "REMOVE_PROJECT"},
            {"removed": "shop"},
        )
    ],
)
async def remove_project(args: RemoveProjectArgs, guide: Guide) -> GuideResult:
    """Remove a project from the configuration.

    Use it to drop or forget a project; its files stay.

    The result has its name.

    Usage:
        remove_project(project="shop", explicit_action="REMOVE_PROJECT")
    """
    await guide.change_configuration(changes.remove_project, args.project)
    return GuideResult.ok(
        {"removed": args.project}, f"Removed the project {args.project!r}. Its files were not deleted."
    )


def _summary(project: Project, mode: Mode | None) -> JsonObject:
    fields: JsonObject = {"name": project.name, "mode": mode, "folder": project.folder and str(project.folder)}
    return {name: field for name, field in fields.items() if field is not None}


def _absolute_path(folder: str | None) -> Path | None:
    if folder is None:
        return None
    path = Path(folder).expanduser()
    if not path.is_absolute():
        raise InvalidArguments(f"The folder {folder!r} is not an absolute path. Write it in full.", fields=["folder"])
    return path
