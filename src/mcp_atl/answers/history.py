"""Changes of issues and versions of pages, compact."""

from collections.abc import Sequence

from mcp_atl.answers.issues import short_time
from mcp_atl.answers.users import short_user
from mcp_atl.client.connection import Json
from mcp_atl.client.json_values import list_at

MAX_VALUE_LENGTH = 200


def short_change(entry: Json, only: Sequence[str] = ()) -> Json:
    """One entry of a changelog: who, when, and what from what to what. `only` names the fields that count."""
    wanted = {name.lower() for name in only}
    items = [one for one in list_at(entry, "items") if not wanted or str(one.get("field")).lower() in wanted]
    return {
        "at": short_time(entry.get("created")),
        "by": short_user(entry.get("author")),
        "changes": [
            {"field": one.get("field"), "from": _short(one.get("fromString")), "to": _short(one.get("toString"))}
            for one in items
        ],
    }


def short_version(version: Json) -> Json:
    """One version of a page."""
    author = version.get("author") or ({"accountId": version["authorId"]} if version.get("authorId") else None)
    return {
        "version": version.get("number"),
        "at": short_time(version.get("createdAt")),
        "by": short_user(author),
        "message": version.get("message"),
        "minor": version.get("minorEdit") or None,
    }


def _short(text: str | None) -> str | None:
    return (
        text
        if text is None or len(text) <= MAX_VALUE_LENGTH
        else f"{text[:MAX_VALUE_LENGTH]}... ({len(text)} characters)"
    )
