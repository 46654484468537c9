"""Modes: what an agent may do now, stated in the instruction of every result.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Annotated, Literal

from pydantic import Field

from mcp_guide.guide import Guide, GuideResult, ProjectView
from mcp_guide.model import Mode, allows_more
from mcp_guide.tools import presets
from mcp_guide.tools.fields import ProjectName
from toolcharter import Confirm, Example, ToolArguments, ToolContext, instructions
from toolcharter.errors import ConsentRequired


class GetModeArgs(ToolArguments):
    """The project."""

    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads(
    tags=["modes"],
    examples=[Example("Get the current mode", {}, {"mode": "DISCUSSION"})],
)
async def get_mode(args: GetModeArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Show the current mode.

    Use it to see if changes are allowed now.

    Returns:
        The mode and what it allows.

    Usage:
        get_mode()
    """
    return await guide.run(args.project, context, _get_mode)


def _get_mode(view: ProjectView) -> GuideResult:
    return GuideResult.ok({"mode": view.mode})


class SetModeArgs(ToolArguments):
    """The mode to enter."""

    mode: Annotated[Mode, Field(description="Talk, plan, change or check.")]
    user_consent: Annotated[
        Literal["ENTER_IMPLEMENTATION"] | None,
        Field(description="For IMPLEMENTATION."),
    ] = None
    project: ProjectName = None


async def _project_to_confirm(args: SetModeArgs, guide: Guide, context: ToolContext) -> str | None:
    """The name of the project; None if the new mode does not allow more than the current one."""
    view = await guide.load_view(args.project, context)
    return view.project.name if allows_more(args.mode, view.mode) else None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.changes(
    confirm=Confirm(ask="Let the agent work in {mode} mode in the project {target}?", target=_project_to_confirm),
    destructive=False,
    tags=["modes"],
    examples=[
        Example("Start planning", {"mode": "PLANNING"}, {"mode": "PLANNING"}),
        Example(
            "Start implementing after the user has agreed",
            {"mode": "IMPLEMENTATION", "user_consent": "ENTER_IMPLEMENTATION"},
            {"mode": "IMPLEMENTATION"},
        ),
    ],
)
async def set_mode(args: SetModeArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Switch to another mode.

    Use it to enter or start discussion, planning, implementation or check; IMPLEMENTATION only after the user agreed.

    For IMPLEMENTATION, `user_consent` states that the user agreed. If the client can, it asks the user itself.
    The mode ends with the session; no file is changed.

    Returns:
        The mode.

    Usage:
        set_mode(mode="PLANNING")
        set_mode(mode="IMPLEMENTATION", user_consent="ENTER_IMPLEMENTATION")
    """
    view = await guide.load_view(args.project, context)
    is_agreed = context.is_confirmed or args.user_consent is not None
    if allows_more(args.mode, view.mode) and not is_agreed:
        raise ConsentRequired(
            "Only the user can allow IMPLEMENTATION mode. Present your plan, and wait until they agree.",
            message="The agent asks for permission to change the project.",
            instruction=f"{instructions.REQUIRE_CONSENT} {instructions.NO_CHANGES}",
        )
    view = await guide.set_mode(view.project.name, args.mode, context)
    return view.result({"mode": args.mode}, f"The project {view.project.name!r} is now in {args.mode} mode.")
