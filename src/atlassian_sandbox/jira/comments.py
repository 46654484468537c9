from typing import Any

from atlassian_sandbox.http import (
    NO_CONTENT,
    ApiRoutes,
    Refusal,
    Response,
    SiteRequest,
    as_object,
    optional_list,
    optional_object,
)
from atlassian_sandbox.jira import changes
from atlassian_sandbox.jira.issues import read_text
from atlassian_sandbox.jira.render import Renderer, page_of
from atlassian_sandbox.model import Issue, IssueComment

routes = ApiRoutes("jira")


def find_comment(issue: Issue, number: str) -> IssueComment:
    for comment in issue.comments:
        if comment.id == number:
            return comment
    raise Refusal(404, f"Can not find a comment for the id: {number}.")


def commentable(request: SiteRequest) -> Issue:
    issue = request.state.issue(request.parameters["issue"], request.user)
    if not request.state.can_write(request.state.project_of(issue), request.user):
        raise Refusal(400, errors={"comment": "You do not have the permission to comment on this issue."})
    return issue


@routes.get("/issue/{issue}/comment")
def list_comments(request: SiteRequest) -> Any:
    issue = request.state.issue(request.parameters["issue"], request.user)
    newest_first = (request.text("orderBy") or "").startswith("-")
    comments = list(reversed(issue.comments)) if newest_first else issue.comments
    page, start, size = page_of(comments, request, default=5000)
    shown = [Renderer(request).comment(issue, comment) for comment in page]
    return {"startAt": start, "maxResults": size, "total": len(comments), "comments": shown}


@routes.get("/issue/{issue}/comment/{comment}")
def get_comment(request: SiteRequest) -> Any:
    issue = request.state.issue(request.parameters["issue"], request.user)
    return Renderer(request).comment(issue, find_comment(issue, request.parameters["comment"]))


@routes.post("/issue/{issue}/comment")
def add_comment(request: SiteRequest) -> Any:
    issue = commentable(request)
    body = request.object
    text = read_text(request, body.get("body"), "comment")
    comment = changes.add_comment(request.state, issue, request.user.id, text, public=_is_public(body))
    comment.visibility = body.get("visibility")
    return Response(201, Renderer(request).comment(issue, comment))


def _is_public(body: dict[str, Any]) -> bool:
    """Whether customers see a comment: not if it has the property of an internal one."""
    properties = [as_object(each, "properties") for each in optional_list(body.get("properties"))]
    values = [optional_object(each.get("value")) for each in properties if each.get("key") == "sd.public.comment"]
    return not any(value.get("internal") for value in values)


@routes.put("/issue/{issue}/comment/{comment}")
def edit_comment(request: SiteRequest) -> Any:
    issue = commentable(request)
    comment = find_comment(issue, request.parameters["comment"])
    if comment.author != request.user.id and not request.user.is_admin:
        raise Refusal(400, errors={"comment": "You do not have the permission to edit this comment."})
    comment.body = read_text(request, request.object.get("body"), "comment")
    comment.updated = issue.values["updated"] = request.state.now()
    return Renderer(request).comment(issue, comment)


@routes.delete("/issue/{issue}/comment/{comment}")
def delete_comment(request: SiteRequest) -> Any:
    issue = commentable(request)
    comment = find_comment(issue, request.parameters["comment"])
    if comment.author != request.user.id and not request.user.is_admin:
        raise Refusal(403, "You do not have permission to delete this comment.")
    issue.comments.remove(comment)
    return NO_CONTENT
