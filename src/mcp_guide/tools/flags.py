"""Flags: those of a project, which override the global ones, and the global ones alone.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from mcp_guide.configuration import changes
from mcp_guide.guide import Guide, GuideResult, ProjectView
from mcp_guide.model import FlagValue, resolve_flags, suggest_names
from mcp_guide.tools import presets
from mcp_guide.tools.fields import NamePart, ProjectName
from toolcharter import Example, ToolArguments, ToolContext

reads = presets.reads.preset(permissions=["flags:read"], tags=["flags"])
writes = presets.changes.preset(permissions=["flags:write"], tags=["flags"])

Flag = Annotated[str, Field(description="Name, such as tdd.")]
Value = Annotated[
    bool | int | float | str | list[str] | None,
    Field(description="null removes it."),
]


NO_PROJECT_FLAG = "No flag is set yet. Set one with set_project_flag or set_feature_flag."
NO_GLOBAL_FLAG = "No global flag is set yet. Set one with set_feature_flag."


class SetProjectFlagArgs(ToolArguments):
    """A flag of a project, and its value."""

    flag: Flag
    value: Value
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@writes(
    examples=[
        Example("Turn a flag on", {"flag": "tdd", "value": True}, {"flag": "tdd", "value": True}),
        Example("Remove a flag", {"flag": "strict", "value": None}, {"flag": "strict", "value": None}),
    ],
)
async def set_project_flag(args: SetProjectFlagArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Turn a flag on or off in one project.

    Use it to set, disable or remove a flag for this project only.

    Documents that require a flag are shown only if it is set.

    The result has the flag and its value.

    Usage:
        set_project_flag(flag="tdd", value=true)
        set_project_flag(flag="reviewers", value=["ana", "bob"])
        set_project_flag(flag="tdd", value=null)    # removes it
    """
    view = await guide.change_project(args.project, context, changes.set_project_flag, args.flag, args.value)
    value = view.project.flags.get(args.flag)
    return view.result({"flag": args.flag, "value": value}, _describe_change(args.flag, value))


class GetProjectFlagArgs(ToolArguments):
    """A flag of a project."""

    flag: Flag
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@reads(
    examples=[
        Example("A flag of the project", {"flag": "strict"}, {"flag": "strict", "value": True, "scope": "project"}),
        Example("A global default", {"flag": "beta"}, {"flag": "beta", "value": False, "scope": "global"}),
    ],
)
async def get_project_flag(args: GetProjectFlagArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Check a flag of a project.

    Use it to see its value, or whether it is on; global flags are the defaults.

    Returns:
        Value and scope.

    Usage:
        get_project_flag(flag="tdd")
    """
    return await guide.run(args.project, context, _get_flag, args.flag)


def _get_flag(view: ProjectView, flag: str) -> GuideResult:
    flags = resolve_flags(view.configuration, view.project)
    if flag not in flags:
        return GuideResult.ok({"flag": flag, "value": None, "scope": "unset"}, _describe_unset(flag, flags))
    scope = "project" if flag in view.project.flags else "global"
    return GuideResult.ok({"flag": flag, "value": flags[flag], "scope": scope})


class ListProjectFlagsArgs(ToolArguments):
    """Which flags to list."""

    containing: NamePart = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@reads(
    examples=[Example("All flags of the project", {}, {"flags": {"beta": False, "strict": True}})],
)
async def list_project_flags(args: ListProjectFlagsArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """List the flags of a project.

    Use it to show all flags of this project, defaults included.

    Returns:
        Name and value of each.

    Usage:
        list_project_flags()
    """
    return await guide.run(args.project, context, _list_flags, args.containing)


def _list_flags(view: ProjectView, containing: str | None) -> GuideResult:
    return _flags_result(resolve_flags(view.configuration, view.project), containing, NO_PROJECT_FLAG)


class SetFeatureFlagArgs(ToolArguments):
    """A global flag, and its value."""

    flag: Flag
    value: Value


# Documented as src/mcp_guide/tools/README.md shows.
@writes(
    examples=[Example("Turn a flag on globally", {"flag": "beta", "value": True}, {"flag": "beta", "value": True})],
)
async def set_feature_flag(args: SetFeatureFlagArgs, guide: Guide) -> GuideResult:
    """Turn a global feature flag on or off.

    Use it to set, disable or remove a flag everywhere, for all projects.

    A project that sets the flag itself keeps its own value.

    The result has the flag and its value.

    Usage:
        set_feature_flag(flag="beta", value=true)
        set_feature_flag(flag="beta", value=null)    # removes it
    """
    value = (await guide.change_configuration(changes.set_feature_flag, args.flag, args.value)).flags.get(args.flag)
    return GuideResult.ok({"flag": args.flag, "value": value}, _describe_change(args.flag, value))


class GetFeatureFlagArgs(ToolArguments):
    """A global flag."""

    flag: Flag


# Documented as src/mcp_guide/tools/README.md shows.
@reads(
    examples=[Example("A global flag", {"flag": "beta"}, {"flag": "beta", "value": False})],
)
async def get_feature_flag(args: GetFeatureFlagArgs, guide: Guide) -> GuideResult:
    """Check a global feature flag.

    Use it to see its global value, or whether it is on for all projects.

    Returns:
        The value.

    Usage:
        get_feature_flag(flag="beta")
    """
    flags = (await guide.load_configuration()).flags
    message = None if args.flag in flags else _describe_unset(args.flag, flags)
    return GuideResult.ok({"flag": args.flag, "value": flags.get(args.flag)}, message)


class ListFeatureFlagsArgs(ToolArguments):
    """Which global flags to list."""

    containing: NamePart = None


# Documented as src/mcp_guide/tools/README.md shows.
@reads(
    examples=[Example("All global flags", {}, {"flags": {"beta": False}})],
)
async def list_feature_flags(args: ListFeatureFlagsArgs, guide: Guide) -> GuideResult:
    """List the global feature flags.

    Use it to see which flags apply globally, to every project.

    Returns:
        Name and value of each.

    Usage:
        list_feature_flags()
    """
    return _flags_result((await guide.load_configuration()).flags, args.containing, NO_GLOBAL_FLAG)


def _flags_result(flags: Mapping[str, FlagValue], containing: str | None, if_empty: str) -> GuideResult:
    listed = {name: flags[name] for name in sorted(flags) if containing is None or containing in name}
    message = if_empty if not flags else None if listed else f"No flag name contains {containing!r}."
    return GuideResult.ok({"flags": listed}, message)


def _describe_unset(flag: str, flags: Mapping[str, FlagValue]) -> str:
    return f"The flag {flag!r} is not set. {suggest_names(flag, flags)}".rstrip()


def _describe_change(flag: str, value: object) -> str:
    return f"Removed the flag {flag!r}." if value is None else f"Set the flag {flag!r}."
