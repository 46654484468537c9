"""Comments in Confluence's API version 2: below a page, and on a text of it."""

from collections.abc import Callable
from typing import Any, Literal

from atlassian_sandbox.confluence.inline_marks import add_mark
from atlassian_sandbox.confluence.lists import cursor_page
from atlassian_sandbox.confluence.pages import add_body, page_body, version_json
from atlassian_sandbox.documents import local_id
from atlassian_sandbox.http import (
    NO_CONTENT,
    ApiRoutes,
    JsonObject,
    Refusal,
    Response,
    SiteRequest,
    as_object,
    optional_object,
)
from atlassian_sandbox.model import PageComment, PageVersion

routes = ApiRoutes("v2")
Location = Literal["footer", "inline"]


def comment_json(request: SiteRequest, comment: PageComment) -> JsonObject:
    page = request.state.pages[comment.page]
    link = f"/spaces/{page.space}/pages/{page.id}?focusedCommentId={comment.id}"
    rendered: JsonObject = {
        "id": comment.id,
        "status": "current",
        "title": f"Re: {page.title}",
        "version": version_json(comment.current),
        "body": {},
        "_links": {"webui": link},
    }
    rendered |= {"parentCommentId": comment.parent} if comment.parent else {"pageId": comment.page}
    if comment.location == "inline":
        rendered["resolutionStatus"] = "resolved" if comment.resolved else "open"
        rendered["properties"] = {"inlineMarkerRef": comment.marker, "inlineOriginalSelection": comment.selection}
    return add_body(request, rendered, comment.current.body)


def find_comment(request: SiteRequest, number: str, location: Location | None = None) -> PageComment:
    comment = request.state.page_comments.get(number)
    if comment is None or location not in (None, comment.location):
        raise Refusal(404, f"No comment found with id: {number}")
    request.state.page(comment.page, request.user)
    return comment


def add_comment(request: SiteRequest, page_id: str, parent: str | None, body: Any, location: Location) -> PageComment:
    """A new comment, with the body {"representation": ..., "value": ...}."""
    state = request.state
    page = state.page(page_id, request.user)
    version = PageVersion(1, "", page_body(request, body), request.user.id, state.now())
    comment = PageComment(state.new_id(), page.id, parent, [version], location)
    state.page_comments[comment.id] = comment
    return comment


def edit_comment(request: SiteRequest, comment: PageComment, number: Any, body: Any) -> None:
    if comment.current.author != request.user.id and not request.user.is_admin:
        raise Refusal(403, "You do not have permission to edit this comment.")
    current = comment.current.number
    if number != current + 1:
        raise Refusal(
            409, f"Version must be incremented. Current version is: {current}. Provided version is: {number}."
        )
    content = page_body(request, body)
    comment.versions.append(PageVersion(number, "", content, request.user.id, request.state.now()))


def delete_comment(request: SiteRequest, comment: PageComment) -> None:
    if comment.current.author != request.user.id and not request.user.is_admin:
        raise Refusal(403, "You do not have permission to delete this comment.")
    comments = request.state.page_comments
    for child in [each for each in comments.values() if each.parent == comment.id]:
        comments.pop(child.id)
    comments.pop(comment.id)


def _register(location: Location) -> None:
    """The routes of one location: both have the same ones."""
    root = f"/{location}-comments"

    def on(register: Callable[..., Any], path: str, handler: Callable[[SiteRequest, Location], Any]) -> None:
        def handle(request: SiteRequest) -> Any:
            return handler(request, location)

        register(path)(handle)

    on(routes.get, f"/pages/{{page}}{root}", _list)
    on(routes.post, root, _create)
    on(routes.get, f"{root}/{{comment}}", _get)
    on(routes.put, f"{root}/{{comment}}", _update)
    on(routes.delete, f"{root}/{{comment}}", _delete)
    on(routes.get, f"{root}/{{comment}}/children", _children)


def _list(request: SiteRequest, location: Location) -> Any:
    page = request.state.page(request.parameters["page"], request.user)
    comments = [
        comment
        for comment in request.state.page_comments.values()
        if (comment.page, comment.location, comment.parent) == (page.id, location, None)
    ]
    if request.words("resolution-status"):
        wanted = request.words("resolution-status")
        comments = [each for each in comments if ("resolved" if each.resolved else "open") in wanted]
    return cursor_page(request, [comment_json(request, comment) for comment in comments])


def _create(request: SiteRequest, location: Location) -> Any:
    body = request.object
    parent = body.get("parentCommentId")
    if (not parent) == (not body.get("pageId")):
        raise Refusal(400, "Provide one of pageId and parentCommentId.")
    page_id = find_comment(request, str(parent), location).page if parent else str(body["pageId"])
    properties: JsonObject = {}
    if location == "inline" and not parent:
        properties = as_object(body.get("inlineCommentProperties"), "inlineCommentProperties")
    comment = add_comment(request, page_id, parent or None, body.get("body"), location)
    if location == "inline" and not parent:
        comment.selection = str(properties.get("textSelection") or "")
        comment.marker = local_id(f"mark {comment.id}")
        try:
            add_mark(request.state.pages[page_id], comment.marker, comment.selection, properties)
        except Refusal:
            request.state.page_comments.pop(comment.id)
            raise
    return Response(201, comment_json(request, comment))


def _get(request: SiteRequest, location: Location) -> Any:
    return comment_json(request, find_comment(request, request.parameters["comment"], location))


def _update(request: SiteRequest, location: Location) -> Any:
    comment = find_comment(request, request.parameters["comment"], location)
    body = request.object
    edit_comment(request, comment, optional_object(body.get("version")).get("number"), body.get("body"))
    if location == "inline" and body.get("resolved") is not None:
        comment.resolved = bool(body["resolved"])
    return comment_json(request, comment)


def _delete(request: SiteRequest, location: Location) -> Any:
    delete_comment(request, find_comment(request, request.parameters["comment"], location))
    return NO_CONTENT


def _children(request: SiteRequest, location: Location) -> Any:
    comment = find_comment(request, request.parameters["comment"], location)
    children = [each for each in request.state.page_comments.values() if each.parent == comment.id]
    return cursor_page(request, [comment_json(request, child) for child in children])


_register("footer")
_register("inline")
