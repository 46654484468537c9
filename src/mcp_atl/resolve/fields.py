"""Jira's fields by name: `Story Points` is customfield_10016 here, and something else on another site."""

import difflib

from mcp_atl.client.connection import Json, SiteConnection
from mcp_atl.client.jira import jira
from toolcharter import InvalidArguments

ALIASES = {
    "type": "issuetype",
    "due": "duedate",
    "due_date": "duedate",
    "fix_versions": "fixVersions",
    "affects_versions": "versions",
    "resolved": "resolutiondate",
    "links": "issuelinks",
    "attachments": "attachment",
    "comments": "comment",
    "worklogs": "worklog",
    "time_tracking": "timetracking",
}
"""Our names of standard fields, by the site's ids."""
NAMES = {field: name for name, field in ALIASES.items() if name != "due_date"}

STANDARD = frozenset(
    {
        "summary", "description", "status", "priority", "assignee", "reporter", "creator", "project", "labels",
        "components", "created", "updated", "resolution", "parent", "subtasks", "environment", "security", "votes",
        "watches", "progress", "aggregateprogress", "timespent", "timeestimate", "timeoriginalestimate", "workratio",
        "statuscategorychangedate", "lastViewed", *ALIASES.values(),
    }
)  # fmt: skip
"""Fields that every Jira has: no look-up is needed for them."""


class Fields:
    """The fields of one site, read when a name is not a standard one."""

    def __init__(self, connection: SiteConnection) -> None:
        self._connection = connection
        self._all: list[Json] | None = None

    async def id_of(self, name: str) -> str:
        """The id of a field, from its id, our name or the name that people see."""
        known = ALIASES.get(name, name)
        if known in STANDARD:
            return known
        return str((await self.field(name))["id"])

    async def field(self, name: str) -> Json:
        """The description of a field by the site."""
        fields = await self.all()
        wanted = ALIASES.get(name, name)
        if exact := [field for field in fields if wanted in (field["id"], field.get("key"))]:
            return exact[0]
        found = [field for field in fields if _plain(field["name"]) == _plain(name)]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(str(field["id"]) for field in found)
            raise InvalidArguments(f"{len(found)} fields are called {name!r}: {ids}. Use the id of one.")
        names = [field["name"] for field in fields]
        nearest = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        guess = f" Did you mean {' or '.join(map(repr, nearest))}?" if nearest else ""
        raise InvalidArguments(f"No field is called {name!r}.{guess} List them with list, subject 'fields'.")

    async def name_of(self, id: str) -> str:
        """Our name of a field: that of a custom field is the one people see."""
        if id in STANDARD:
            return NAMES.get(id, id)
        return next((field["name"] for field in await self.all() if field["id"] == id), id)

    async def all(self) -> list[Json]:
        """All fields, read once for each call."""
        if self._all is None:
            self._all = await jira(self._connection).fields()
        return self._all


def _plain(name: str) -> str:
    return name.casefold().replace("_", " ").replace("-", " ").strip()
