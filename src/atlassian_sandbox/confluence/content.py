"""Content in the API of Confluence Data Center: pages, comments and spaces."""

from typing import Any

from atlassian_sandbox.confluence import comments, pages
from atlassian_sandbox.confluence.content_json import ContentJson
from atlassian_sandbox.http import (
    NO_CONTENT,
    ApiRoutes,
    JsonObject,
    Refusal,
    SiteRequest,
    as_object,
    optional_list,
    optional_object,
)
from atlassian_sandbox.model import PageComment, StoredPage

routes = ApiRoutes("v1")


def _find(request: SiteRequest, number: str) -> StoredPage | PageComment:
    if number in request.state.page_comments:
        return comments.find_comment(request, number)
    status = request.text("status") or "current"
    statuses = {"trashed": ("trashed",), "draft": ("draft",), "any": ("current", "draft", "trashed")}
    return request.state.page(number, request.user, status=statuses.get(status, ("current", "archived")))


@routes.get("/content/{content}", only="datacenter")
def get_content(request: SiteRequest) -> Any:
    number = request.parameters["content"]
    json = ContentJson(request)
    if number in request.state.page_attachments:
        return json.attachment(request.state.page_attachments[number])
    content = _find(request, number)
    if isinstance(content, PageComment):
        return json.comment(content)
    version = request.text("version")
    return json.page(content, version=pages.find_version(content, int(version)) if version else None)


@routes.get("/content", only="datacenter")
def list_content(request: SiteRequest) -> Any:
    state = request.state
    space, title, kind = request.text("spaceKey"), request.text("title"), request.text("type") or "page"
    status = request.text("status") or "current"
    found = [
        page
        for page in state.pages.values()
        if page.type == kind and page.status == status and state.can_read(page, request.user)
        if space in (None, page.space)
        if title in (None, page.title)
    ]
    json = ContentJson(request)
    return json.paged([json.page(page) for page in found])


@routes.post("/content", only="datacenter")
def create_content(request: SiteRequest) -> Any:
    body = request.object
    json = ContentJson(request)
    ancestors = optional_list(body.get("ancestors"))
    parent = str(as_object(ancestors[-1], "ancestor").get("id")) if ancestors else None
    if body.get("type") == "comment":
        return json.comment(_create_comment(request, body, parent))
    if body.get("type") != "page":
        raise Refusal(400, f"The content type '{body.get('type')}' is not supported here.")
    space = request.state.space(str(as_object(body.get("space"), "space").get("key")), request.user)
    content = pages.page_body(request, body.get("body"))
    title, status = str(body.get("title") or ""), body.get("status") or "current"
    page = pages.new_page(request, space, parent or space.homepage, title, content, status=status)
    return json.page(page)


def _create_comment(request: SiteRequest, body: JsonObject, parent: str | None) -> PageComment:
    container = str(as_object(body.get("container"), "container").get("id"))
    extensions = optional_object(body.get("extensions"))
    location = "inline" if extensions.get("location") == "inline" else "footer"
    comment = comments.add_comment(request, container, parent, body.get("body"), location)
    if location == "inline":
        properties = optional_object(extensions.get("inlineProperties"))
        comment.selection = str(properties.get("originalSelection") or "")
        comment.marker = str(properties.get("markerRef") or "")
    return comment


@routes.put("/content/{content}", only="datacenter")
def update_content(request: SiteRequest) -> Any:
    body = request.object
    number = as_object(body.get("version"), "version").get("number")
    json = ContentJson(request)
    content = _find(request, request.parameters["content"])
    if isinstance(content, PageComment):
        comments.edit_comment(request, content, number, body.get("body"))
        return json.comment(content)
    page = request.state.writable_page(content.id, request.user)
    new_body = pages.page_body(request, body["body"]) if body.get("body") else page.current.body
    ancestors = optional_list(body.get("ancestors"))
    parent = str(as_object(ancestors[-1], "ancestor").get("id")) if ancestors else None
    if parent is not None:
        check_parent(request, page, parent)
    title, message = str(body.get("title") or page.title), str(body["version"].get("message") or "")
    pages.save(request, page, number, title, new_body, message=message, minor=bool(body["version"].get("minorEdit")))
    if parent is not None:
        move_below(request, page, parent)
    json.expand = [*json.expand, "version", "space"]
    return json.page(page)


def check_parent(request: SiteRequest, page: StoredPage, parent: str) -> StoredPage:
    """The page to move another one below. Raises Refusal if it does not exist or is below that one."""
    above = request.state.page(parent, request.user)
    if page.id in (above.id, *(each.id for each in request.state.ancestors(above))):
        raise Refusal(400, "A page cannot be moved below itself.")
    return above


def move_below(request: SiteRequest, page: StoredPage, parent: str) -> None:
    above = check_parent(request, page, parent)
    page.parent, page.space = above.id, above.space
    for child in request.state.descendants(page.id, request.user):
        child.space = above.space
    page.position = len(request.state.children(parent, request.user))


@routes.delete("/content/{content}", only="datacenter")
def delete_content(request: SiteRequest) -> Any:
    number = request.parameters["content"]
    if number in request.state.page_attachments:
        request.state.page_attachments.pop(number)
        return NO_CONTENT
    content = _find(request, number)
    if isinstance(content, PageComment):
        comments.delete_comment(request, content)
        return NO_CONTENT
    if not request.state.can_update(content, request.user):
        raise Refusal(403, f"You do not have permission to delete the content with id {content.id}.")
    pages.trash(request, content)
    return NO_CONTENT


@routes.get("/content/{content}/history", only="datacenter")
def history(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["content"], request.user)
    json = ContentJson(request)
    json.expand = ["history.lastUpdated"]
    return json.page(page)["history"]


@routes.get("/content/{content}/child/comment", only="datacenter")
def list_comments(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["content"], request.user)
    locations, everything = request.words("location") or ["footer", "inline"], request.text("depth") == "all"
    found = [
        comment
        for comment in request.state.page_comments.values()
        if comment.page == page.id and comment.location in locations and (everything or comment.parent is None)
    ]
    json = ContentJson(request)
    return json.paged([json.comment(comment) for comment in found])


def _check_is_page(request: SiteRequest) -> None:
    if request.parameters["type"] != "page":
        raise Refusal(400, f"The content type '{request.parameters['type']}' is not supported here.")


@routes.get("/content/{content}/child/{type}", only="datacenter")
def list_children(request: SiteRequest) -> Any:
    _check_is_page(request)
    page = request.state.page(request.parameters["content"], request.user)
    json = ContentJson(request)
    return json.paged([json.page(child) for child in request.state.children(page.id, request.user)])


@routes.get("/content/{content}/descendant/{type}", only="datacenter")
def list_descendants(request: SiteRequest) -> Any:
    _check_is_page(request)
    page = request.state.page(request.parameters["content"], request.user)
    json = ContentJson(request)
    return json.paged([json.page(child) for child in request.state.descendants(page.id, request.user)])


# ---- spaces --------------------------------------------------------------------------------------


@routes.get("/space", only="datacenter")
def list_spaces(request: SiteRequest) -> Any:
    keys = request.query.get("spaceKey", [])
    found = [space for space in request.state.visible_spaces(request.user) if not keys or space.key in keys]
    json = ContentJson(request)
    return json.paged([json.space(space) for space in found])


@routes.get("/space/{space}", only="datacenter")
def get_space(request: SiteRequest) -> Any:
    return ContentJson(request).space(request.state.space(request.parameters["space"], request.user))


@routes.get("/space/{space}/content/{type}", only="datacenter")
def pages_of_space(request: SiteRequest) -> Any:
    _check_is_page(request)
    state = request.state
    space = state.space(request.parameters["space"], request.user)
    root_only = request.text("depth") == "root"
    json = ContentJson(request)
    found = [
        page
        for page in state.pages.values()
        if page.space == space.key and page.status == "current" and state.can_read(page, request.user)
        if not root_only or page.parent is None
    ]
    return json.paged([json.page(page) for page in found])


@routes.get("/server-information", only="datacenter")
def server_information(request: SiteRequest) -> Any:
    return {"version": "10.0.3", "buildNumber": 9999, "baseUrl": f"{request.base}/confluence"}
