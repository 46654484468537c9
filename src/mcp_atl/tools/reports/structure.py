"""The parts of an issue, and its dependencies."""

from typing import Any

from mcp_atl.answers.issues import short_issue, short_link
from mcp_atl.client.connection import Json, SiteConnection
from mcp_atl.client.jira import jira
from mcp_atl.client.json_values import list_at, object_at
from mcp_atl.command import CommandCall
from mcp_atl.resolve.issues import issue_key, issue_keys
from mcp_atl.resolve.queries import quoted, restrict_jql

MAX_ISSUES = 300
_FIELDS = ("summary", "status", "issuetype", "issuelinks")


async def hierarchy(call: CommandCall[Any]) -> Json:
    """An issue, the issues below it, and how many of them are done."""
    key, connection = issue_key(call.required_subject), call.connection
    root = await jira(connection).issue(key, fields=list(_FIELDS))
    nodes: dict[str, Json] = {root["key"]: short_issue(root)}
    level, found = [str(root["key"])], 1
    for depth in range(call.parameters.depth):
        below = await _children(connection, level)
        level = list[str]()
        for parent, issue in below:
            if issue["key"] in nodes or found >= MAX_ISSUES:
                continue
            nodes[issue["key"]] = short_issue(issue)
            _children_of(nodes[parent]).append(nodes[issue["key"]])
            level.append(str(issue["key"]))
            found += 1
        await call.context.report_progress(depth + 1, call.parameters.depth, f"{found} issues")
        if not level:
            break
    done = sum(1 for one in nodes.values() if str(one.get("status")).lower() in ("done", "closed", "resolved"))
    note = f"Only the first {MAX_ISSUES} issues are shown." if found >= MAX_ISSUES else None
    return {"issue": nodes[root["key"]], "issues": found - 1, "done": done, "note": note}


def _children_of(node: Json) -> list[Json]:
    below: list[Json] = node.setdefault("children", [])
    return below


async def _children(connection: SiteConnection, keys: list[str]) -> list[tuple[str, Json]]:
    """Issues below others, each with its parent."""
    api, names = jira(connection), ", ".join(quoted(key) for key in keys)
    jql = restrict_jql(connection.site, f"parent in ({names}) ORDER BY key")
    pairs: list[tuple[str, Json]] = []
    cursor: str | None = None
    while True:
        page = await api.search(jql, fields=["parent", *_FIELDS], limit=100, cursor=cursor)
        pairs += [(str(object_at(one, "fields", "parent").get("key")), one) for one in page.items]
        cursor = page.next_cursor
        if cursor is None or len(pairs) >= MAX_ISSUES:
            return [pair for pair in pairs if pair[0] in keys]


async def dependencies(call: CommandCall[Any]) -> Json:
    """The issues that are linked to some, and to those, across projects."""
    api = jira(call.connection)
    level = issue_keys(call.required_subject)
    issues: dict[str, Json] = {}
    links: dict[str, Json] = {}
    for depth in range(call.parameters.depth):
        following: list[str] = []
        for key in level:
            issue = await api.issue(key, fields=list(_FIELDS))
            issues[issue["key"]] = short_issue(issue)
            for link in list_at(issue, "fields", "issuelinks"):
                shown = short_link(link)
                links.setdefault(str(link.get("id")), {"from": issue["key"], "type": shown["type"], "to": shown["key"]})
                following.append(str(shown["key"]))
        await call.context.report_progress(depth + 1, call.parameters.depth, f"{len(issues)} issues")
        level = [key for key in dict.fromkeys(following) if key not in issues][: MAX_ISSUES - len(issues)]
        if not level:
            break
    projects = {str(key).rpartition("-")[0] for key in issues}
    return {"issues": [*issues.values()], "links": [*links.values()], "projects": sorted(projects)}
