"""Links between issues, and from issues to other places."""

from typing import Any

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
from atlassian_sandbox.jira import changes
from atlassian_sandbox.jira.issue_json import IssueJson
from atlassian_sandbox.jira.issues import read_text
from atlassian_sandbox.model import Issue, IssueLink

routes = ApiRoutes("jira")


@routes.get("/issueLinkType")
def link_types(request: SiteRequest) -> Any:
    return {"issueLinkTypes": [IssueJson(request).link_type(each) for each in request.state.link_types]}


@routes.post("/issueLink")
def create_link(request: SiteRequest) -> Any:
    body, state = request.object, request.state
    wanted = as_object(body.get("type"), "type")
    number = next(
        (
            each
            for each, (name, _, _) in state.link_types.items()
            if wanted.get("id") == each or wanted.get("name") == name
        ),
        None,
    )
    if number is None:
        raise Refusal(404, f"No issue link type with name '{wanted.get('name', wanted.get('id'))}' found.")
    # As in Jira: the inward issue of the request is the one that "blocks" the outward issue.
    source = _linked(request, body.get("inwardIssue"))
    target = _linked(request, body.get("outwardIssue"))
    if source.id == target.id:
        raise Refusal(400, "You cannot link an issue to itself.")
    comment = body.get("comment")
    text = read_text(request, optional_object(comment).get("body"), "comment") if comment else None
    exists = any(
        (each.type, each.outward, each.inward) == (number, source.id, target.id) for each in state.links.values()
    )
    if not exists:
        link = IssueLink(state.new_id(), number, source.id, target.id)
        state.links[link.id] = link
        _record(request, source, target, state.link_types[number][2])
        _record(request, target, source, state.link_types[number][1])
    if text is not None:
        changes.add_comment(state, source, request.user.id, text)
    return Response(201)


def _linked(request: SiteRequest, value: Any) -> Issue:
    wanted = as_object(value, "The issue")
    return request.state.writable_issue(str(wanted.get("key") or wanted.get("id")), request.user)


def _record(request: SiteRequest, issue: Issue, other: Issue, words: str) -> None:
    item = {"field": "Link", "fieldtype": "jira", "from": None, "fromString": None, "to": other.key}
    item["toString"] = f"This issue {words} {other.key}"
    changes.touch(request.state, issue, request.user.id, [item])


def _find(request: SiteRequest) -> IssueLink:
    link = request.state.links.get(request.parameters["link"])
    if link is None:
        raise Refusal(404, f"No issue link with id '{request.parameters['link']}' exists.")
    for end in (link.outward, link.inward):
        request.state.issue(end, request.user)
    return link


@routes.get("/issueLink/{link}")
def get_link(request: SiteRequest) -> Any:
    link, json = _find(request), IssueJson(request)
    issues = request.state.issues
    return {
        "id": link.id,
        "type": json.link_type(link.type),
        "inwardIssue": json.renderer.short_issue(issues[link.outward]),
        "outwardIssue": json.renderer.short_issue(issues[link.inward]),
    }


@routes.delete("/issueLink/{link}")
def delete_link(request: SiteRequest) -> Any:
    link = _find(request)
    request.state.writable_issue(link.outward, request.user)
    request.state.links.pop(link.id)
    return NO_CONTENT


@routes.get("/issue/{issue}/remotelink")
def list_remote_links(request: SiteRequest) -> Any:
    issue = request.state.issue(request.parameters["issue"], request.user)
    wanted = request.text("globalId")
    shown = [_remote(request, issue, each) for each in issue.remote_links if wanted in (None, each.get("globalId"))]
    if wanted is not None and shown:
        return shown[0]
    return shown


def _remote(request: SiteRequest, issue: Issue, link: JsonObject) -> JsonObject:
    return {
        "self": f"{request.base}/rest/api/{3 if request.is_cloud else 2}/issue/{issue.id}/remotelink/{link['id']}",
        **link,
    }


@routes.post("/issue/{issue}/remotelink")
def add_remote_link(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    body = request.object
    target = as_object(body.get("object"), "object")
    if not target.get("url") or not target.get("title"):
        raise Refusal(400, errors={"title" if target.get("url") else "url": "'url' and 'title' are required."})
    old = next(
        (each for each in issue.remote_links if body.get("globalId") and each.get("globalId") == body["globalId"]), None
    )
    if old is not None:
        old |= body
        return Response(200, {"id": old["id"], "self": _remote(request, issue, old)["self"]})
    link = {"id": int(request.state.new_id()), **body}
    issue.remote_links.append(link)
    return Response(201, {"id": link["id"], "self": _remote(request, issue, link)["self"]})


def _find_remote(issue: Issue, number: str) -> JsonObject:
    for link in issue.remote_links:
        if str(link["id"]) == number:
            return link
    raise Refusal(404, f"No remote issue link with id '{number}' exists for the issue {issue.key}.")


@routes.get("/issue/{issue}/remotelink/{link}")
def get_remote_link(request: SiteRequest) -> Any:
    issue = request.state.issue(request.parameters["issue"], request.user)
    return _remote(request, issue, _find_remote(issue, request.parameters["link"]))


@routes.delete("/issue/{issue}/remotelink/{link}")
def delete_remote_link(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    issue.remote_links.remove(_find_remote(issue, request.parameters["link"]))
    return NO_CONTENT


@routes.delete("/issue/{issue}/remotelink")
def delete_remote_link_by_global_id(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    wanted = request.text("globalId")
    links = [each for each in issue.remote_links if each.get("globalId") == wanted]
    if not links:
        raise Refusal(404, f"No remote issue link with the global id '{wanted}' exists.")
    issue.remote_links.remove(links[0])
    return NO_CONTENT
