"""Versions and sprints."""

from typing import Any

from mcp_atl.client.agile import AgileApi
from mcp_atl.client.connection import Json
from mcp_atl.client.jira import jira
from mcp_atl.command import CommandCall
from mcp_atl.resolve.dates import day, moment
from mcp_atl.resolve.times import now_of
from mcp_atl.tools.creations.options import dry_run_answer, required_options


async def create_version(call: CommandCall[Any]) -> Json:
    """A version of a project."""
    project, name = required_options(call, "project", "name")
    options, today = call.parameters, now_of(call.context).date()
    known = await jira(call.connection).project(project)
    version: Json = {
        "name": name,
        "projectId": int(known["id"]),
        "description": options.description,
        "startDate": day(options.start, today) if options.start else None,
        "releaseDate": day(options.end, today) if options.end else None,
    }
    version = {key: value for key, value in version.items() if value is not None}
    if options.dry_run:
        return dry_run_answer(version)
    made = await jira(call.connection).create_version(version)
    return {"id": made["id"], "name": made["name"], "project": project}


async def create_sprint(call: CommandCall[Any]) -> Json:
    """A sprint of a board, not yet started."""
    board, name = required_options(call, "board", "name")
    options, now = call.parameters, now_of(call.context)
    sprint: Json = {
        "name": name,
        "originBoardId": int(board),
        "goal": options.goal,
        "startDate": moment(options.start, now) if options.start else None,
        "endDate": moment(options.end, now) if options.end else None,
    }
    sprint = {key: value for key, value in sprint.items() if value is not None}
    if options.dry_run:
        return dry_run_answer(sprint)
    made = await AgileApi(call.connection).create_sprint(sprint)
    return {"id": made["id"], "name": made["name"], "state": made.get("state")}
