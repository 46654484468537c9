"""Reading, creating, changing and deleting issues."""

from typing import Any

from atlassian_sandbox.http import NO_CONTENT, ApiRoutes, JsonObject, Refusal, Response, SiteRequest, as_list, as_object
from atlassian_sandbox.jira import changes
from atlassian_sandbox.jira.fields import FieldReader, InvalidValue, check_text, find_field
from atlassian_sandbox.jira.issue_json import IssueJson
from atlassian_sandbox.model import Issue, JiraProject

routes = ApiRoutes("jira")


def wanted_fields(request: SiteRequest, default: str) -> list[str]:
    return request.words("fields") or [default]


@routes.get("/issue/{issue}")
def get_issue(request: SiteRequest) -> Any:
    issue = request.state.issue(request.parameters["issue"], request.user)
    return IssueJson(request).render(issue, wanted_fields(request, "*all"), request.words("expand"))


@routes.post("/issue/bulkfetch", only="cloud")
def get_issues(request: SiteRequest) -> Any:
    found: list[JsonObject] = []
    errors: list[str] = []
    body = request.object
    for name in as_list(body.get("issueIdsOrKeys"), "issueIdsOrKeys"):
        try:
            issue = request.state.issue(str(name), request.user)
        except Refusal:
            errors.append(str(name))
            continue
        found.append(IssueJson(request).render(issue, body.get("fields") or ["*navigable"], body.get("expand") or []))
    failed = [
        {"id": name, "errorMessage": "Issue does not exist or you do not have permission to see it."} for name in errors
    ]
    return {"issues": found, "issueErrors": failed}


@routes.post("/issue")
def create_issue(request: SiteRequest) -> Any:
    issue = create(request, request.object)
    return Response(201, created(request, issue))


@routes.post("/issue/bulk")
def create_issues(request: SiteRequest) -> Any:
    issues: list[JsonObject] = []
    errors: list[JsonObject] = []
    for number, update in enumerate(as_list(request.object.get("issueUpdates"), "issueUpdates")):
        try:
            issues.append(created(request, create(request, as_object(update, "issueUpdates"))))
        except Refusal as refusal:
            problem = {"errorMessages": refusal.messages, "errors": refusal.errors}
            errors.append({"status": refusal.status, "elementErrors": problem, "failedElementNumber": number})
    if errors and not issues:
        return Response(400, {"issues": [], "errors": errors})
    return Response(201, {"issues": issues, "errors": errors})


def created(request: SiteRequest, issue: Issue) -> JsonObject:
    link = f"{IssueJson(request).renderer.root}/issue/{issue.id}"
    return {"id": issue.id, "key": issue.key, "self": link}


def create(request: SiteRequest, body: JsonObject) -> Issue:
    fields = dict(as_object(body.get("fields") or {}, "fields"))
    project = project_to_write(request, fields.pop("project", None))
    values = changes.read_fields(request, project, fields)
    changes.check_new(request, values)
    update = as_object(body.get("update") or {}, "update")
    values |= changes.read_update(request, Issue("", "", project.key, values), update)
    comments = [read_text(request, comment.get("body"), "comment") for comment in changes.comments_of(update)]
    issue = changes.new_issue(request.state, project, values, request.user.id)
    for comment in comments:
        changes.add_comment(request.state, issue, request.user.id, comment)
    return issue


def project_to_write(request: SiteRequest, value: Any) -> JiraProject:
    wanted = as_object(value or {}, "project")
    name = str(wanted.get("key") or wanted.get("id") or "")
    try:
        project = request.state.project(name, request.user)
    except Refusal:
        raise Refusal(400, errors={"project": "Specify a valid project ID or key"}) from None
    if not request.state.can_write(project, request.user):
        raise Refusal(400, errors={"project": "You cannot create issues in this project."})
    return project


@routes.put("/issue/{issue}")
def edit_issue(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    body = request.object
    fields = as_object(body.get("fields") or {}, "fields")
    update = as_object(body.get("update") or {}, "update")
    twice = sorted(set(fields) & set(update))
    if twice:
        raise Refusal(400, f"Field '{twice[0]}' cannot be included in both 'fields' and 'update'.")
    project = request.state.project_of(issue)
    values = changes.read_fields(request, project, fields) | changes.read_update(request, issue, update)
    comments = [read_text(request, comment.get("body"), "comment") for comment in changes.comments_of(update)]
    changes.store(request, issue, values)
    for comment in comments:
        changes.add_comment(request.state, issue, request.user.id, comment)
    if request.flag("returnIssue"):
        return IssueJson(request).render(issue, ["*all"], request.words("expand"))
    return NO_CONTENT


def read_text(request: SiteRequest, value: Any, name: str) -> Any:
    """A rich text of a request. Raises Refusal 400 if it has not the format of this kind of site."""
    try:
        return check_text(request.kind, value)
    except InvalidValue as error:
        raise Refusal(400, errors={name: str(error)}) from None


@routes.put("/issue/{issue}/assignee")
def assign(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    field = find_field("assignee", request.kind)
    value = request.object
    empty = value.get("accountId" if request.is_cloud else "name", "-1") is None
    try:
        reader = FieldReader(request.state, request.state.project_of(issue))
        assignee = reader.read(field, None if empty else value) if field else None
    except InvalidValue as error:
        raise Refusal(400, errors={"assignee": str(error)}) from None
    changes.store(request, issue, {"assignee": assignee})
    return NO_CONTENT


@routes.delete("/issue/{issue}")
def delete_issue(request: SiteRequest) -> Any:
    state = request.state
    issue = state.issue(request.parameters["issue"], request.user)
    if not request.user.is_admin and issue.values.get("reporter") != request.user.id:
        raise Refusal(403, "You do not have permission to delete issues in this project.")
    children = [child for child in IssueJson(request).children(issue) if IssueJson(request).is_subtask(child)]
    if children and not request.flag("deleteSubtasks"):
        raise Refusal(
            400,
            f"The issue '{issue.key}' has subtasks. You must specify the 'deleteSubtasks' parameter to delete "
            "this issue and all its subtasks.",
        )
    for each in (issue, *children):
        remove(request, each)
    return NO_CONTENT


def remove(request: SiteRequest, issue: Issue) -> None:
    state = request.state
    state.issues.pop(issue.id)
    state.ranks.remove(issue.id)
    for key in (issue.key, *issue.old_keys):
        state.issue_ids.pop(key, None)
    for link in [link for link in state.links.values() if issue.id in (link.inward, link.outward)]:
        state.links.pop(link.id)
    for other in state.issues.values():
        if other.values.get("parent") == issue.id:
            other.values["parent"] = None
