"""Flags: those of a project, which override the global ones, and the global ones alone.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from mcp_core import Example, Need, ToolArguments, ToolContext
from mcp_guide import configuration_changes as changes
from mcp_guide.guide import Guide, GuideResult, ProjectView
from mcp_guide.model import FlagValue, resolve_flags, suggest_names
from mcp_guide.tools.fields import CHANGES, READS, ProjectName

Flag = Annotated[str, Field(description="Such as tdd.")]
Containing = Annotated[str | None, Field(description="Only names with this.")]
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
@ToolArguments.declare(
    **CHANGES,
    permissions=["flags:write"],
    tags=["flags"],
    examples=[
        Example("Switch a flag on", {"flag": "tdd", "value": True}, {"flag": "tdd", "value": True}),
        Example("Remove a flag", {"flag": "strict", "value": None}, {"flag": "strict", "value": None}),
    ],
)
async def set_project_flag(args: SetProjectFlagArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """Set or remove a flag of one project.

    Use it to switch something for one project.

    Documents that require a flag are shown only where it is set.

    The answer has the flag and its value.

    Usage:
        set_project_flag(flag="tdd", value=true)
        set_project_flag(flag="reviewers", value=["ana", "bob"])
        set_project_flag(flag="tdd", value=null)    # removes it
    """
    view = await guide.change_project(args.project, context, changes.set_project_flag, args.flag, args.value)
    return view.result({"flag": args.flag, "value": args.value}, _describe_change(args.flag, args.value))


class GetProjectFlagArgs(ToolArguments):
    """A flag as it holds in a project."""

    flag: Flag
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **READS,
    permissions=["flags:read"],
    tags=["flags"],
    examples=[
        Example("A flag of the project", {"flag": "strict"}, {"flag": "strict", "value": True, "scope": "project"}),
        Example("A global default", {"flag": "beta"}, {"flag": "beta", "value": False, "scope": "global"}),
    ],
)
async def get_project_flag(args: GetProjectFlagArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """Check a flag of a project.

    Use it to see whether it is set or on; global ones are the defaults.

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

    containing: Containing = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **READS,
    permissions=["flags:read"],
    tags=["flags"],
    examples=[Example("All that hold in the project", {}, {"flags": {"beta": False, "strict": True}})],
)
async def list_project_flags(args: ListProjectFlagsArgs, guide: Need[Guide], context: ToolContext) -> GuideResult:
    """List the flags that hold in a project.

    Use it to see all, global defaults included.

    Returns:
        All flags.

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
@ToolArguments.declare(
    **CHANGES,
    permissions=["flags:write"],
    tags=["flags"],
    examples=[Example("On everywhere", {"flag": "beta", "value": True}, {"flag": "beta", "value": True})],
)
async def set_feature_flag(args: SetFeatureFlagArgs, guide: Need[Guide]) -> GuideResult:
    """Set or remove a global feature flag.

    Use it to switch it for all projects.

    Projects that set the flag themselves keep their own value.

    The answer has the flag and its value.

    Usage:
        set_feature_flag(flag="beta", value=true)
        set_feature_flag(flag="beta", value=null)    # removes it
    """
    await guide.change_configuration(changes.set_feature_flag, args.flag, args.value)
    return GuideResult.ok({"flag": args.flag, "value": args.value}, _describe_change(args.flag, args.value))


class GetFeatureFlagArgs(ToolArguments):
    """A global flag."""

    flag: Flag


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **READS,
    permissions=["flags:read"],
    tags=["flags"],
    examples=[Example("A global flag", {"flag": "beta"}, {"flag": "beta", "value": False})],
)
async def get_feature_flag(args: GetFeatureFlagArgs, guide: Need[Guide]) -> GuideResult:
    """Check a global feature flag.

    Use it for the global value.

    Returns:
        Its value.

    Usage:
        get_feature_flag(flag="beta")
    """
    flags = (await guide.load_configuration()).flags
    message = None if args.flag in flags else _describe_unset(args.flag, flags)
    return GuideResult.ok({"flag": args.flag, "value": flags.get(args.flag)}, message)


class ListFeatureFlagsArgs(ToolArguments):
    """Which global flags to list."""

    containing: Containing = None


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    **READS,
    permissions=["flags:read"],
    tags=["flags"],
    examples=[Example("All global flags", {}, {"flags": {"beta": False}})],
)
async def list_feature_flags(args: ListFeatureFlagsArgs, guide: Need[Guide]) -> GuideResult:
    """List the global feature flags.

    Use it for the defaults of all projects.

    Returns:
        All of them.

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
