"""Modes: what an agent may do now. They are off until a project or the user asks for them.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from mcp_guide.guide import Guide, GuideResult, ProjectView
from mcp_guide.model import BOUNDARIES, Mode, allows_more
from mcp_guide.tools import presets
from mcp_guide.tools.fields import ProjectName
from toolcharter import Confirm, Example, ToolArguments, ToolContext, instructions
from toolcharter.errors import ConsentRequired

OFF = "OFF"


class GetModeArgs(ToolArguments):
    """The project."""

    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads(
    tags=["modes"],
    examples=[Example("Get the current mode", {}, {"mode": "OFF"})],
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
    if view.mode is None:
        return GuideResult.ok({"mode": OFF}, "Modes are off: nothing is restricted.")
    return GuideResult.ok({"mode": view.mode}, instruction=BOUNDARIES[view.mode])


def _to_upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


class SetModeArgs(ToolArguments):
    """The mode to enter."""

    mode: Annotated[
        Literal["DISCUSSION", "PLANNING", "IMPLEMENTATION", "CHECK", "OFF"],
        BeforeValidator(_to_upper),
        Field(description="What the agent may do from now on; OFF restricts nothing."),
    ]
    user_consent: Annotated[
        Literal["ENTER_IMPLEMENTATION"] | None,
        Field(description="States that the user agreed to a mode that allows more."),
    ] = None
    project: ProjectName = None


async def _project_to_confirm(args: SetModeArgs, guide: Guide, context: ToolContext) -> str | None:
    """The name of the project; None if the new mode does not allow more than the current one."""
    view = await guide.load_view(args.project, context)
    return view.project.name if allows_more(_mode(args), view.mode) else None


def _mode(args: SetModeArgs) -> Mode | None:
    return None if args.mode == OFF else args.mode


# Documented as src/mcp_guide/tools/README.md shows.
@presets.changes(
    confirm=Confirm(ask="Let the agent work in {mode} mode in the project {target}?", target=_project_to_confirm),
    destructive=False,
    tags=["modes"],
    examples=[
        Example("Start planning", {"mode": "PLANNING"}, {"mode": "PLANNING"}),
        Example(
            "Start implementing after the user has agreed to the plan",
            {"mode": "IMPLEMENTATION", "user_consent": "ENTER_IMPLEMENTATION"},
            {"mode": "IMPLEMENTATION"},
        ),
    ],
)
async def set_mode(args: SetModeArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Switch to another mode.

    Use it to enter or start discussion, planning, implementation or check, where the user wants modes.

    From a mode that allows no changes to IMPLEMENTATION or OFF, `user_consent` states that the user agreed.
    If the client can, it asks the user itself. The mode ends with the session; no file is changed.

    Returns:
        The mode.

    Usage:
        set_mode(mode="PLANNING")
        set_mode(mode="IMPLEMENTATION", user_consent="ENTER_IMPLEMENTATION")
    """
    view = await guide.load_view(args.project, context)
    is_agreed = context.is_confirmed or args.user_consent is not None
    if allows_more(_mode(args), view.mode) and not is_agreed:
        raise ConsentRequired(
            f"Only the user can allow {args.mode} mode. Present your plan, and wait until they agree.",
            message="The agent asks for permission to change the project.",
            instruction=f"{instructions.REQUIRE_CONSENT} {instructions.NO_CHANGES}",
        )
    mode = _mode(args)
    view = await guide.set_mode(view.project.name, mode, context)
    if mode is None:
        return view.result({"mode": OFF}, f"Modes are off in the project {view.project.name!r}.")
    message = f"The project {view.project.name!r} is now in {mode} mode."
    return view.result({"mode": mode}, message, BOUNDARIES[mode])
