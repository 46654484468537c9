"""Flags: of a project, where they win over the global ones, and global ones alone.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from mcp_core import Example, Need, ToolArguments, ToolContext
from mcp_guide import configuration_changes as changes
from mcp_guide.guide import Answer, Guide, View
from mcp_guide.model import FlagValue, Project, nearest_names, resolve_flags, set_flag
from mcp_guide.tools.fields import CHANGES, READS, ProjectName

Flag = Annotated[str, Field(description="Such as tdd.")]
Containing = Annotated[str | None, Field(description="Only names with this.")]
Value = Annotated[
    bool | int | float | str | list[str] | None,
    Field(description="null removes it."),
]


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
async def set_project_flag(args: SetProjectFlagArgs, guide: Need[Guide], context: ToolContext) -> Answer:
    """Set or remove a flag of one project.

    Use it to switch something for one project.

    Documents that require a flag are shown only where it is set.

    The answer has the flag and its value.

    Usage:
        set_project_flag(flag="tdd", value=true)
        set_project_flag(flag="reviewers", value=["ana", "bob"])
        set_project_flag(flag="tdd", value=null)    # removes it
    """
    changed = await guide.change(args.project, context, _with_flag, args.flag, args.value)
    return changed.answer({"flag": args.flag, "value": args.value}, _done(args.flag, args.value))


def _with_flag(project: Project, flag: str, value: FlagValue | None) -> Project:
    return replace(project, flags=set_flag(project.flags, flag, value))


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
async def get_project_flag(args: GetProjectFlagArgs, guide: Need[Guide], context: ToolContext) -> Answer:
    """Check a flag of a project.

    Use it to see whether it is set or on; global ones are the defaults.

    Returns:
        Value and scope.

    Usage:
        get_project_flag(flag="tdd")
    """
    return await guide.look(args.project, context, _resolved, args.flag)


def _resolved(view: View, flag: str) -> Answer:
    known = resolve_flags(view.configuration, view.project)
    if flag not in known:
        return Answer.ok({"flag": flag, "value": None, "scope": "unset"}, _unset(flag, known))
    scope = "project" if flag in view.project.flags else "global"
    return Answer.ok({"flag": flag, "value": known[flag], "scope": scope})


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
async def list_project_flags(args: ListProjectFlagsArgs, guide: Need[Guide], context: ToolContext) -> Answer:
    """List the flags that hold in a project.

    Use it to see all, global defaults included.

    Returns:
        All flags.

    Usage:
        list_project_flags()
    """
    return await guide.look(args.project, context, _all_resolved, args.containing)


def _all_resolved(view: View, containing: str | None) -> Answer:
    return Answer.ok({"flags": _only(resolve_flags(view.configuration, view.project), containing)})


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
async def set_feature_flag(args: SetFeatureFlagArgs, guide: Need[Guide]) -> Answer:
    """Set or remove a global feature flag.

    Use it to switch it for all projects.

    Projects that set the flag themselves keep their own value.

    The answer has the flag and its value.

    Usage:
        set_feature_flag(flag="beta", value=true)
        set_feature_flag(flag="beta", value=null)    # removes it
    """
    await guide.change_all(changes.set_feature_flag, args.flag, args.value)
    return Answer.ok({"flag": args.flag, "value": args.value}, _done(args.flag, args.value))


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
async def get_feature_flag(args: GetFeatureFlagArgs, guide: Need[Guide]) -> Answer:
    """Check a global feature flag.

    Use it for the global value.

    Returns:
        Its value.

    Usage:
        get_feature_flag(flag="beta")
    """
    known = (await guide.configuration()).flags
    message = None if args.flag in known else _unset(args.flag, known)
    return Answer.ok({"flag": args.flag, "value": known.get(args.flag)}, message)


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
async def list_feature_flags(args: ListFeatureFlagsArgs, guide: Need[Guide]) -> Answer:
    """List the global feature flags.

    Use it for the defaults of all projects.

    Returns:
        All of them.

    Usage:
        list_feature_flags()
    """
    return Answer.ok({"flags": _only((await guide.configuration()).flags, args.containing)})


def _only(flags: Mapping[str, FlagValue], containing: str | None) -> dict[str, FlagValue]:
    return {name: flags[name] for name in sorted(flags) if containing is None or containing in name}


def _unset(flag: str, known: Mapping[str, FlagValue]) -> str:
    return f"The flag {flag!r} is not set. {nearest_names(flag, known)}"


def _done(flag: str, value: object) -> str:
    return f"The flag {flag!r} is removed." if value is None else f"The flag {flag!r} is set."
