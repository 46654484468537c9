"""Service levels of requests."""

from typing import Any

from mcp_atl.client.connection import Json
from mcp_atl.client.json_values import at, list_at, object_at
from mcp_atl.client.service import ServiceApi
from mcp_atl.command import CommandCall
from mcp_atl.resolve.issues import issue_keys


async def sla(call: CommandCall[Any]) -> Json:
    """The service levels of each request: running, met or missed, with the time that is left."""
    api = ServiceApi(call.connection)
    found: list[Json] = []
    for key in issue_keys(call.required_subject):
        page = await api.slas(key, 0, 50)
        found.append({"key": key, "sla": [_short(one) for one in page.items]})
    return {"issues": found}


def _short(level: Json) -> Json:
    running, completed = object_at(level, "ongoingCycle"), list_at(level, "completedCycles")
    cycle = running or (completed[-1] if completed else {})
    return {
        "name": level.get("name"),
        "running": bool(running),
        "breached": cycle.get("breached"),
        "goal": at(cycle, "goalDuration", "friendly"),
        "elapsed": at(cycle, "elapsedTime", "friendly"),
        "remaining": at(cycle, "remainingTime", "friendly"),
        "paused": cycle.get("paused") or None,
    }
