"""Pages and what belongs to them, compact."""

from collections.abc import Mapping
from typing import Any

from mcp_atl.answers.issues import ToMarkdown
from mcp_atl.answers.users import short_user
from mcp_atl.client.confluence import ConfluencePage
from mcp_atl.client.connection import Json
from mcp_atl.client.json_values import object_at

_USER = {"id": None, "name": None}

SHAPE: Mapping[str, Any] = {
    "id": None,
    "title": None,
    "space": None,
    "version": None,
    "status": None,
    "parent_id": None,
    "created": None,
    "updated": None,
    "author": _USER,
    "editor": _USER,
    "message": None,
    "link": None,
    "body": None,
    "outline": None,
    "next_cursor": None,
    "labels": None,
    "children": {"id": None, "title": None},
    "comments": {"id": None, "author": _USER, "created": None, "body": None, "reply_to": None, "selection": None},
    "attachments": {"id": None, "name": None, "type": None, "size": None},
    "restrictions": None,
}
FOUND_SHAPE: Mapping[str, Any] = {
    "id": None,
    "title": None,
    "type": None,
    "space": None,
    "updated": None,
    "excerpt": None,
    "link": None,
}


def compact_page(page: ConfluencePage) -> Json:
    """A page without its body."""
    return {
        "id": page.id,
        "title": page.title,
        "space": page.space,
        "version": page.version,
        "status": None if page.status == "current" else page.status,
        "parent_id": page.parent_id,
        "created": page.created_at,
        "updated": page.updated_at,
        "author": short_user(page.author),
        "editor": short_user(page.editor) if page.editor != page.author else None,
        "message": page.message,
    }


def found_page(result: Json) -> Json:
    """A result of a search. Confluence marks the words that it found; the marks are taken out."""
    content = object_at(result, "content")
    space = object_at(content, "space")
    container = object_at(result, "resultGlobalContainer")
    return {
        "id": content.get("id"),
        "title": _unmarked(content.get("title") or result.get("title") or ""),
        "type": content.get("type") if content.get("type") != "page" else None,
        "space": space.get("key") or _space_key(container.get("displayUrl", "")),
        "updated": result.get("lastModified"),
        "excerpt": " ".join(_unmarked(result.get("excerpt") or "").split()),
    }


def _space_key(address: str) -> str | None:
    return address.rpartition("/spaces/")[2].partition("/")[0] or None


def _unmarked(text: str) -> str:
    return text.replace("@@@hl@@@", "").replace("@@@endhl@@@", "")


def short_page_comment(comment: Json, to_markdown: ToMarkdown) -> Json:
    """A comment on a page, with the text that it is about if it is an inline one."""
    return {
        "id": comment["id"],
        "author": short_user(comment.get("author")),
        "created": comment.get("createdAt"),
        "body": to_markdown(comment.get("body") or ""),
        "reply_to": comment.get("parentId"),
        "selection": comment.get("selection"),
        "resolution": comment.get("resolution"),
    }


def short_page_attachment(file: Json) -> Json:
    """A file of a page."""
    extensions = object_at(file, "extensions")
    return {
        "id": str(file["id"]),
        "name": file.get("title"),
        "type": file.get("mediaType") or extensions.get("mediaType"),
        "size": file.get("fileSize") or extensions.get("fileSize"),
    }
