"""Sprints and versions."""

from typing import Any

from mcp_atl.client.agile import AgileApi
from mcp_atl.client.connection import Json
from mcp_atl.client.jira import jira
from mcp_atl.command import CommandCall
from mcp_atl.resolve.dates import day, moment
from mcp_atl.resolve.times import now_of
from toolcharter import InvalidArguments

_SPRINT = ("name", "state", "goal", "startDate", "endDate")
_VERSION = ("name", "description", "released", "archived", "startDate", "releaseDate")


async def update_sprint(call: CommandCall[Any], id: str) -> Json:
    """Rename, start, complete or replan a sprint."""
    now = now_of(call.context)
    changes = _changes(call, _SPRINT)
    for name in ("startDate", "endDate"):
        if changes.get(name):
            changes[name] = moment(str(changes[name]), now)
    if call.parameters.dry_run:
        return {"id": id, "dry_run": True, "would_send": changes}
    made = await AgileApi(call.connection).update_sprint(id, changes)
    return {"id": id, "name": made.get("name"), "state": made.get("state")}


async def update_version(call: CommandCall[Any], id: str) -> Json:
    """Rename, release, archive or replan a version."""
    today = now_of(call.context).date()
    changes = _changes(call, _VERSION)
    for name in ("startDate", "releaseDate"):
        if changes.get(name):
            changes[name] = day(str(changes[name]), today)
    if call.parameters.dry_run:
        return {"id": id, "dry_run": True, "would_send": changes}
    made = await jira(call.connection).update_version(id, changes)
    return {"id": id, "name": made.get("name"), "released": made.get("released")}


def _changes(call: CommandCall[Any], known: tuple[str, ...]) -> Json:
    options = call.parameters
    changes: Json = dict(options.fields) | ({"name": options.title} if options.title else {})
    if unknown := [name for name in changes if name not in known]:
        raise InvalidArguments(
            f"parameters.fields: {', '.join(unknown)} cannot be set; it takes {', '.join(known)}.",
            fields=("parameters",),
        )
    if not changes:
        raise InvalidArguments(f"parameters.fields: is empty; it takes {', '.join(known)}.", fields=("parameters",))
    return changes
