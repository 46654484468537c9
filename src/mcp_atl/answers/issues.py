"""Issues, compact: no nulls, no self links, users and statuses as short objects, texts as Markdown."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from mcp_atl.answers.users import short_user
from mcp_atl.client.connection import Json
from mcp_atl.client.json_values import at, list_at, object_at

_USER = {"id": None, "name": None}
_ISSUE = {"key": None, "summary": None, "status": {"name": None, "category": None}, "type": None}

SHAPE: Mapping[str, Any] = {
    "key": None,
    "id": None,
    "summary": None,
    "type": None,
    "status": {"name": None, "category": None},
    "priority": None,
    "assignee": _USER,
    "reporter": _USER,
    "creator": _USER,
    "project": {"key": None, "name": None},
    "parent": _ISSUE,
    "subtasks": _ISSUE,
    "labels": None,
    "components": None,
    "fix_versions": None,
    "affects_versions": None,
    "resolution": None,
    "resolved": None,
    "created": None,
    "updated": None,
    "due": None,
    "description": None,
    "environment": None,
    "time_tracking": None,
    "links": {"id": None, "type": None, "key": None, "summary": None, "status": None},
    "attachments": {"id": None, "name": None, "type": None, "size": None, "created": None, "author": _USER},
    "comments": {"id": None, "author": _USER, "created": None, "updated": None, "body": None},
    "worklogs": {"id": None, "author": _USER, "started": None, "time": None, "comment": None},
    "votes": None,
    "watches": None,
}
"""The standard fields. Custom ones are added by their names."""

SEARCH_FIELDS = ("summary", "type", "status", "priority", "assignee", "updated")
GET_FIELDS = (
    *SEARCH_FIELDS, "reporter", "parent", "labels", "components", "fix_versions", "resolution", "created", "due",
    "description", "subtasks", "links",
)  # fmt: skip

ToMarkdown = Callable[[Any], str]


def short_issue(issue: Json) -> Json:
    """Another issue that an issue names."""
    fields = object_at(issue, "fields")
    return {
        "key": issue.get("key"),
        "summary": fields.get("summary"),
        "status": _name(fields.get("status")),
        "type": _name(fields.get("issuetype")),
    }


def compact_issue(issue: Json, names: Mapping[str, str], to_markdown: ToMarkdown) -> Json:
    """An issue with our names of its fields. `names` are those of the fields that were asked for, by id."""
    fields = object_at(issue, "fields")
    shown: Json = {"key": issue["key"]}
    for field, name in names.items():
        shown[name] = issue.get("id") if name == "id" else _value(field, fields.get(field), to_markdown)
    return shown


def _value(field: str, value: Any, to_markdown: ToMarkdown) -> Any:
    if field in _TEXTS:
        return to_markdown(value) if value else None
    if field in _OBJECTS:
        return _OBJECTS[field](value) if value else None
    if field in _LISTS:
        return [_LISTS[field](one) for one in list_at(value)]
    if field == "comment":
        return [short_comment(one, to_markdown) for one in list_at(value, "comments")]
    if field == "worklog":
        return [short_worklog(one, to_markdown) for one in list_at(value, "worklogs")]
    return _plain(value, to_markdown)


def _plain(value: Any, to_markdown: ToMarkdown) -> Any:
    """A value of any field: options by their value, users by id and name, documents as Markdown."""
    if isinstance(value, list):
        return [_plain(part, to_markdown) for part in cast(list[Any], value)]
    if not isinstance(value, dict):
        return short_time(value)
    found = cast(Json, value)
    if found.get("type") == "doc":
        return to_markdown(found)
    if "displayName" in found:
        return short_user(found)
    if "value" in found:
        child = found.get("child")
        return f"{found['value']} / {child['value']}" if child else found["value"]
    if "name" in found:
        return found["name"]
    return {key: part for key, part in found.items() if key not in ("self", "iconUrl", "avatarUrls")}


def short_status(status: Json | None) -> Json | None:
    """The name of a status, and which of the three categories it is in."""
    if not status:
        return None
    return {"name": status["name"], "category": at(status, "statusCategory", "name")}


def short_link(link: Json) -> Json:
    """A link to another issue, as a sentence would say it: 'blocks ABC-2'."""
    outward = "outwardIssue" in link
    other = object_at(link, "outwardIssue") or object_at(link, "inwardIssue")
    short = short_issue(other)
    kind = at(link, "type", "outward" if outward else "inward")
    return {"id": link.get("id"), "type": kind, **{key: short[key] for key in ("key", "summary", "status")}}


def short_attachment(file: Json) -> Json:
    """A file, without the addresses that need a session."""
    return {
        "id": str(file.get("id")),
        "name": file.get("filename"),
        "type": file.get("mimeType"),
        "size": file.get("size"),
        "created": short_time(file.get("created")),
        "author": short_user(file.get("author")),
    }


def short_comment(comment: Json, to_markdown: ToMarkdown) -> Json:
    """A comment with its text as Markdown."""
    edited = comment.get("updated") if comment.get("updated") != comment.get("created") else None
    return {
        "id": str(comment.get("id")),
        "author": short_user(comment.get("author")),
        "created": short_time(comment.get("created")),
        "updated": short_time(edited),
        "body": to_markdown(comment.get("body") or ""),
    }


def short_worklog(worklog: Json, to_markdown: ToMarkdown) -> Json:
    """Logged work."""
    comment = worklog.get("comment")
    return {
        "id": str(worklog.get("id")),
        "author": short_user(worklog.get("author")),
        "started": short_time(worklog.get("started")),
        "time": worklog.get("timeSpent"),
        "comment": to_markdown(comment) if comment else None,
    }


def short_time(value: Any) -> Any:
    """A time of the site without its milliseconds: 2026-11-17T09:30:00+0100."""
    if isinstance(value, str) and len(value) > 23 and value[10:11] == "T" and value[19:20] == ".":  # noqa: PLR2004 - as written
        return value[:19] + value[23:].replace("+0000", "Z")
    return value


def _name(value: Any) -> Any:
    return value.get("name") if isinstance(value, dict) else value  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


_TEXTS = frozenset({"description", "environment"})
_OBJECTS: Mapping[str, Callable[[Any], Any]] = {
    "status": short_status,
    "assignee": short_user,
    "reporter": short_user,
    "creator": short_user,
    "parent": short_issue,
    "project": lambda project: {"key": project["key"], "name": project.get("name")},
}
_LISTS: Mapping[str, Callable[[Json], Json]] = {
    "subtasks": short_issue,
    "issuelinks": short_link,
    "attachment": short_attachment,
}
