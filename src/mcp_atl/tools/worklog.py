"""worklog: time that was spent on an issue."""

from typing import Literal

from pydantic import Field

from mcp_atl.answers.listing import Item
from mcp_atl.client.connection import Json
from mcp_atl.client.jira import jira
from mcp_atl.command import CommandCall, Id, Parameters, writes
from mcp_atl.convert.texts import from_markdown
from mcp_atl.resolve.dates import duration, moment
from mcp_atl.resolve.issues import issue_key
from mcp_atl.resolve.times import now_of
from toolcharter import Example, InvalidArguments


class Worklog(Parameters):
    """The parameters of worklog."""

    time: str | None = Field(default=None, description="As Jira writes it: 30m, 2h 30m, 1d.")
    started: str | None = Field(default=None, description="When the work began: a date or time. Default: now.")
    comment: str | None = Field(default=None, description="What was done, in Markdown.")
    worklog_id: Id | None = Field(default=None, description="Change this entry instead of adding one.")
    remaining: str | None = Field(default=None, description="The remaining estimate after it: 1d, or auto or leave.")
    remove: bool = Field(default=False, description="Delete the entry worklog_id.")


@writes(
    Worklog,
    subject="Issue key, such as ABC-1.",
    takes="time (2h 30m), started, comment, worklog_id (to change), remaining, remove.",
    tags=["issues"],
    examples=[
        Example(
            "Log an hour and a half",
            {"subject": "APP-3", "parameters": {"time": "1h 30m"}, "response_fields": ["key", "time"]},
            {"key": "APP-3", "time": "1h 30m"},
        )
    ],
)
async def worklog(call: CommandCall[Worklog]) -> Item:
    """Log work on an issue, or change what was logged.

    Use this when the user says how many hours they spent.

    Returns:
        The id of the entry.
    """
    key, options, api = issue_key(call.required_subject), call.parameters, jira(call.connection)
    if options.remove:
        if options.worklog_id is None:
            raise InvalidArguments("parameters.worklog_id: is required with remove.", fields=("parameters",))
        await api.delete_worklog(key, options.worklog_id)
        return Item({"key": key, "id": options.worklog_id, "removed": True})
    if options.time is None and options.worklog_id is None:
        raise InvalidArguments("parameters.time: is required, such as 2h 30m.", fields=("parameters",))
    entry = _entry(call)
    if options.worklog_id is not None:
        made = await api.edit_worklog(key, options.worklog_id, entry, **_estimate(options.remaining))
        return Item({"key": key, "id": str(made["id"]), "time": made.get("timeSpent"), "changed": True})
    made = await api.add_worklog(key, entry, **_estimate(options.remaining))
    return Item({"key": key, "id": str(made["id"]), "time": made.get("timeSpent")})


def _entry(call: CommandCall[Worklog]) -> Json:
    options, now = call.parameters, now_of(call.context)
    entry: Json = {}
    if options.time is not None:
        entry["timeSpent"] = duration(options.time)
    if options.started is not None or options.worklog_id is None:
        entry["started"] = moment(options.started, now) if options.started else moment(now.isoformat(), now)
    if options.comment is not None:
        entry["comment"] = from_markdown(call.connection.site, "jira", options.comment)
    return entry


def _estimate(remaining: str | None) -> Json:
    fixed: tuple[Literal["auto"], Literal["leave"]] = ("auto", "leave")
    if remaining is None or remaining in fixed:
        return {"adjustEstimate": remaining}
    return {"adjustEstimate": "new", "newEstimate": duration(remaining)}
