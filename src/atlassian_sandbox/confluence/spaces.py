"""Spaces in Confluence's API version 2."""

from typing import Any

from atlassian_sandbox.confluence.lists import cursor_page
from atlassian_sandbox.confluence.pages import label_json, page_list, visible_pages
from atlassian_sandbox.http import ApiRoutes, JsonObject, SiteRequest
from atlassian_sandbox.jira.render import zulu_time
from atlassian_sandbox.model import Space

routes = ApiRoutes("v2")


def space_json(request: SiteRequest, space: Space) -> JsonObject:
    rendered: JsonObject = {
        "id": space.id,
        "key": space.key,
        "name": space.name,
        "type": space.type,
        "status": "current",
        "authorId": space.author,
        "currentActiveAlias": space.key,
        "createdAt": zulu_time(space.created),
        "homepageId": space.homepage,
        "_links": {"webui": f"/spaces/{space.key}"},
    }
    wanted = request.text("description-format")
    if wanted:
        rendered["description"] = {wanted: {"representation": wanted, "value": space.description}}
    return rendered


@routes.get("/spaces")
def list_spaces(request: SiteRequest) -> Any:
    ids, keys, types, labels = (request.words(name) for name in ("ids", "keys", "type", "labels"))
    found = [
        space
        for space in request.state.visible_spaces(request.user)
        if not ids or space.id in ids
        if not keys or space.key in keys
        if not types or space.type in types
        if not labels or set(labels) & set(space.labels)
    ]
    sort = request.text("sort") or "id"
    found.sort(key=lambda space: str(getattr(space, sort.removeprefix("-"), space.id)), reverse=sort.startswith("-"))
    return cursor_page(request, [space_json(request, space) for space in found])


@routes.get("/spaces/{space}")
def get_space(request: SiteRequest) -> Any:
    return space_json(request, request.state.space_by_id(request.parameters["space"], request.user))


@routes.get("/spaces/{space}/pages")
def list_pages_of_space(request: SiteRequest) -> Any:
    space = request.state.space_by_id(request.parameters["space"], request.user)
    title, depth = request.text("title"), request.text("depth")
    pages = [
        page
        for page in visible_pages(request)
        if page.space == space.key
        if title is None or page.title == title
        if depth != "root" or page.parent is None
    ]
    return page_list(request, pages)


@routes.get("/spaces/{space}/content/labels")
def labels_of_space(request: SiteRequest) -> Any:
    space = request.state.space_by_id(request.parameters["space"], request.user)
    names = {label for page in visible_pages(request) if page.space == space.key for label in page.labels}
    return cursor_page(request, [label_json(name) for name in sorted(names)])
