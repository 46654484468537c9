"""The history of issues, who watches and votes, and their properties."""

from typing import Any

from atlassian_sandbox.http import NO_CONTENT, ApiRoutes, JsonObject, Refusal, Response, SiteRequest, optional_list
from atlassian_sandbox.jira.render import Renderer, paged
from atlassian_sandbox.model import Issue, SiteUser

routes = ApiRoutes("jira")


def _issue(request: SiteRequest) -> Issue:
    return request.state.issue(request.parameters["issue"], request.user)


@routes.get("/issue/{issue}/changelog", only="cloud")
def list_changes(request: SiteRequest) -> Any:
    shown = [Renderer(request).change(change) for change in _issue(request).history]
    return {"self": f"{request.base}{request.path}"} | paged(shown, request, default=100)


@routes.post("/issue/{issue}/changelog/list", only="cloud")
def get_changes(request: SiteRequest) -> Any:
    wanted = {str(each) for each in optional_list(request.object.get("changelogIds"))}
    found = [Renderer(request).change(change) for change in _issue(request).history if change.id in wanted]
    return {"startAt": 0, "maxResults": len(found), "total": len(found), "histories": found}


@routes.post("/changelog/bulkfetch", only="cloud")
def get_changes_of_issues(request: SiteRequest) -> Any:
    body = request.object
    fields = set(optional_list(body.get("fieldIds")))
    shown: list[JsonObject] = []
    for name in optional_list(body.get("issueIdsOrKeys")):
        issue = request.state.issue(str(name), request.user)
        histories = [Renderer(request).change(change) for change in issue.history]
        if fields:
            kept = [
                {**each, "items": [item for item in each["items"] if item.get("fieldId") in fields]}
                for each in histories
            ]
            histories = [each for each in kept if each["items"]]
        shown.append({"issueId": issue.id, "changeHistories": histories})
    return {"issueChangeLogs": shown}


# ---- watchers and votes --------------------------------------------------------------------------


@routes.get("/issue/{issue}/watchers")
def list_watchers(request: SiteRequest) -> Any:
    issue = _issue(request)
    return {
        "self": f"{request.base}{request.path}",
        "isWatching": request.user.id in issue.watchers,
        "watchCount": len(issue.watchers),
        "watchers": [Renderer(request).user(each) for each in issue.watchers],
    }


def _person(request: SiteRequest, name: str | None) -> SiteUser:
    user = request.state.find_user(name) if name else request.user
    if user is None:
        raise Refusal(404, f"The user '{name}' does not exist.")
    return user


@routes.post("/issue/{issue}/watchers")
def add_watcher(request: SiteRequest) -> Any:
    issue = _issue(request)
    user = _person(request, request.json)
    if not request.state.can_see(issue, user):
        raise Refusal(400, f"The user '{user.display_name}' does not have permission to view this issue.")
    if user.id not in issue.watchers:
        issue.watchers.append(user.id)
    return NO_CONTENT


@routes.delete("/issue/{issue}/watchers")
def remove_watcher(request: SiteRequest) -> Any:
    issue = _issue(request)
    name = request.text("accountId") if request.is_cloud else (request.text("username") or request.text("userName"))
    user = _person(request, name)
    if user.id in issue.watchers:
        issue.watchers.remove(user.id)
    return NO_CONTENT


@routes.get("/issue/{issue}/votes")
def list_votes(request: SiteRequest) -> Any:
    issue = _issue(request)
    voters = [Renderer(request).user(each) for each in issue.voters]
    link = f"{request.base}{request.path}"
    return {"self": link, "votes": len(voters), "hasVoted": request.user.id in issue.voters, "voters": voters}


@routes.post("/issue/{issue}/votes")
def vote(request: SiteRequest) -> Any:
    issue = _issue(request)
    if issue.values["reporter"] == request.user.id:
        raise Refusal(404, "You cannot vote for an issue you have reported.")
    if request.user.id not in issue.voters:
        issue.voters.append(request.user.id)
    return NO_CONTENT


@routes.delete("/issue/{issue}/votes")
def remove_vote(request: SiteRequest) -> Any:
    issue = _issue(request)
    if request.user.id in issue.voters:
        issue.voters.remove(request.user.id)
    return NO_CONTENT


# ---- properties ----------------------------------------------------------------------------------


@routes.get("/issue/{issue}/properties")
def list_properties(request: SiteRequest) -> Any:
    base = f"{request.base}{request.path}"
    return {"keys": [{"self": f"{base}/{key}", "key": key} for key in _issue(request).properties]}


@routes.get("/issue/{issue}/properties/{property}")
def get_property(request: SiteRequest) -> Any:
    key = request.parameters["property"]
    properties = _issue(request).properties
    if key not in properties:
        raise Refusal(404, f"The property '{key}' does not exist.")
    return {"key": key, "value": properties[key]}


@routes.put("/issue/{issue}/properties/{property}")
def set_property(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    key = request.parameters["property"]
    is_new = key not in issue.properties
    issue.properties[key] = request.json
    return Response(201 if is_new else 200)


@routes.delete("/issue/{issue}/properties/{property}")
def delete_property(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    issue.properties.pop(request.parameters["property"], None)
    return NO_CONTENT
