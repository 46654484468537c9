"""How long issues were in each status."""

from datetime import datetime
from typing import Any

from mcp_atl.answers.issues import short_time
from mcp_atl.client.connection import Json
from mcp_atl.client.jira import JiraApi, jira
from mcp_atl.client.json_values import at, list_at
from mcp_atl.command import CommandCall
from mcp_atl.resolve.issues import issue_keys
from mcp_atl.resolve.times import now_of

MAX_CHANGES = 100
"""Of one request for a changelog."""


async def time_in_status(call: CommandCall[Any]) -> Json:
    """Days in each status, from the changelog, and the dates that people ask about."""
    api, now = jira(call.connection), now_of(call.context)
    keys = issue_keys(call.required_subject)
    issues: list[Json] = []
    for index, key in enumerate(keys):
        issues.append(await _times(api, key, now))
        await call.context.report_progress(index + 1, len(keys), "issues read")
    return {"issues": issues}


async def _times(api: JiraApi, key: str, now: datetime) -> Json:
    issue = await api.issue(key, fields=["created", "resolutiondate", "duedate", "status", "summary"])
    changes = [
        (_time(entry["created"]), item)
        for entry in await _changelog(api, key)
        for item in list_at(entry, "items")
        if item.get("field") == "status"
    ]
    changes.sort(key=lambda change: change[0])
    days: dict[str, float] = {}
    since = _time(at(issue, "fields", "created"))
    status = changes[0][1].get("fromString") if changes else at(issue, "fields", "status", "name")
    for moment, item in changes:
        days[str(status)] = days.get(str(status), 0) + (moment - since).total_seconds() / 86400
        since, status = moment, item.get("toString")
    days[str(status)] = days.get(str(status), 0) + (now - since).total_seconds() / 86400
    return {
        "key": issue["key"],
        "summary": at(issue, "fields", "summary"),
        "status": at(issue, "fields", "status", "name"),
        "days_in_status": {name: round(value, 2) for name, value in days.items()},
        "created": short_time(at(issue, "fields", "created")),
        "resolved": short_time(at(issue, "fields", "resolutiondate")),
        "due": at(issue, "fields", "duedate"),
    }


async def _changelog(api: JiraApi, key: str) -> list[Json]:
    """All of it: a part would give wrong figures."""
    entries: list[Json] = []
    cursor: str | None = "0"
    while cursor is not None:
        page = await api.changelog(key, int(cursor), MAX_CHANGES)
        entries += page.items
        cursor = page.next_cursor
    return entries


def _time(text: Any) -> datetime:
    """A time of Jira: 2026-11-17T09:30:00.000+0100."""
    return datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%S.%f%z")
