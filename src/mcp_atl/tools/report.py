"""report: figures that the site does not give as such. One function for each kind, in `tools/reports/`."""

from pydantic import Field

from mcp_atl.answers.listing import Item
from mcp_atl.command import CommandCall, Parameters, reads
from mcp_atl.tools.reports import KINDS
from toolcharter import Example, InvalidArguments


class Report(Parameters):
    """The parameters of report."""

    kind: str = Field(description=f"Which report: {', '.join(KINDS)}.")
    depth: int = Field(default=3, ge=1, le=5, description="Of hierarchy and dependencies: how far to follow.")
    since: str | None = Field(default=None, description="Of views: the first day, such as 2026-10-01 or -4w.")


@reads(
    Report,
    subject="Issue key or page id; several issues with commas.",
    takes=f"kind ({', '.join(KINDS)}), depth, since.",
    tags=["issues", "pages"],
    examples=[
        Example(
            "Where did the time go?",
            {"subject": "APP-3", "parameters": {"kind": "time_in_status"}, "response_fields": ["issues.key"]},
            {"issues": [{"key": "APP-3"}]},
        )
    ],
)
async def report(call: CommandCall[Report]) -> Item:
    """Work out figures about issues and pages.

    Use this for how long it was in each status, SLA, the tree of an epic, dependencies or page views.

    Returns:
        The figures.
    """
    kind = call.parameters.kind.lower().replace(" ", "_")
    if kind not in KINDS:
        raise InvalidArguments(
            f"parameters.kind: {call.parameters.kind!r} is not a report. It takes {', '.join(KINDS)}.",
            fields=("parameters",),
        )
    return Item(await KINDS[kind](call))
