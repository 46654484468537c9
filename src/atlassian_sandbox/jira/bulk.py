"""Work on many issues at once. On Cloud it gives a task, which is done at once here."""

from typing import Any

from atlassian_sandbox.http import ApiRoutes, JsonObject, Refusal, Response, SiteRequest, as_object, optional_list
from atlassian_sandbox.jira import changes
from atlassian_sandbox.jira.issues import remove
from atlassian_sandbox.jira.render import Renderer, zulu_time
from atlassian_sandbox.jira.transitions import perform
from atlassian_sandbox.model import Issue, JiraProject

routes = ApiRoutes("jira")


def finish(request: SiteRequest, processed: list[Issue], failed: dict[str, list[str]] | None = None) -> Response:
    """A task that is already complete."""
    now = zulu_time(request.state.now())
    number = request.state.new_id()
    request.state.tasks[number] = {
        "taskId": number,
        "status": "COMPLETE",
        "progressPercent": 100,
        "submittedBy": Renderer(request).user(request.user.id),
        "created": now,
        "started": now,
        "updated": now,
        "totalIssueCount": len(processed) + len(failed or {}),
        "invalidOrInaccessibleIssueCount": 0,
        "processedAccessibleIssues": [int(issue.id) for issue in processed],
        "failedAccessibleIssues": failed or {},
    }
    return Response(201, {"taskId": number})


@routes.get("/bulk/queue/{task}", only="cloud")
def get_task(request: SiteRequest) -> Any:
    task = request.state.tasks.get(request.parameters["task"])
    if task is None:
        raise Refusal(400, f"No task with id '{request.parameters['task']}' exists.")
    return task


def _selected(request: SiteRequest, names: Any) -> list[Issue]:
    issues = [request.state.writable_issue(str(name), request.user) for name in optional_list(names)]
    return list({issue.id: issue for issue in issues}.values())


@routes.post("/bulk/issues/move", only="cloud")
def move_issues(request: SiteRequest) -> Any:
    moved: list[Issue] = []
    for target, mapping in as_object(request.object.get("targetToSourcesMapping"), "targetToSourcesMapping").items():
        key, issue_type, *_ = [*target.split(","), ""]
        project = request.state.project(key, request.user)
        if issue_type not in project.issue_types:
            raise Refusal(400, f"The issue type '{issue_type}' does not exist in the project {project.key}.")
        for issue in _selected(request, mapping.get("issueIdsOrKeys")):
            move(request, issue, project, issue_type)
            moved.append(issue)
    return finish(request, moved)


def move(request: SiteRequest, issue: Issue, project: JiraProject, issue_type: str) -> None:
    """Give an issue a key of another project. Its old key still finds it."""
    old_key, old_project = issue.key, issue.project
    project.last_number += 1
    issue.key, issue.project = f"{project.key}-{project.last_number}", project.key
    issue.old_keys.append(old_key)
    request.state.issue_ids[issue.key] = issue.id
    items = [
        {
            "field": "project",
            "fieldtype": "jira",
            "from": None,
            "fromString": old_project,
            "to": None,
            "toString": project.key,
        },
        {"field": "Key", "fieldtype": "jira", "from": None, "fromString": old_key, "to": None, "toString": issue.key},
    ]
    known = {project.first_status, *(each.to for each in project.transitions)}
    status = issue.values["status"] if issue.values["status"] in known else project.first_status
    values: JsonObject = {
        "issuetype": issue_type,
        "status": status,
        "components": [],
        "fixVersions": [],
        "versions": [],
    }
    changes.store(request, issue, values, extra=items)


@routes.post("/bulk/issues/transition", only="cloud")
def transition_issues(request: SiteRequest) -> Any:
    done: list[Issue] = []
    failed: dict[str, list[str]] = {}
    for entry in optional_list(request.object.get("bulkTransitionInputs")):
        for issue in _selected(request, entry.get("selectedIssueIdsOrKeys")):
            try:
                perform(request, issue, str(entry.get("transitionId")), {})
                done.append(issue)
            except Refusal as refusal:
                failed[issue.id] = [*refusal.messages, *refusal.errors.values()]
    return finish(request, done, failed)


@routes.post("/bulk/issues/delete", only="cloud")
def delete_issues(request: SiteRequest) -> Any:
    issues = _selected(request, request.object.get("selectedIssueIdsOrKeys"))
    if not request.user.is_admin:
        raise Refusal(403, "You do not have permission to delete issues in this project.")
    for issue in issues:
        remove(request, issue)
    return finish(request, issues)


@routes.post("/bulk/issues/watch", only="cloud")
def watch_issues(request: SiteRequest) -> Any:
    issues = [request.state.issue(str(name), request.user) for name in request.object["selectedIssueIdsOrKeys"]]
    for issue in issues:
        if request.user.id not in issue.watchers:
            issue.watchers.append(request.user.id)
    return finish(request, issues)


# ---- development information ---------------------------------------------------------------------

development = ApiRoutes("site")


@development.get("/rest/dev-status/latest/issue/detail")
def development_details(request: SiteRequest) -> Any:
    """Commits of an issue. The site's own pages use this path; the API documents do not have it."""
    issue = request.state.issue(request.text("issueId") or "", request.user)
    commits = request.state.development.get(issue.id, [])
    repository: JsonObject = {"name": "booking", "url": "https://git.example/booking", "commits": commits}
    return {"errors": [], "detail": [{"repositories": [repository]}] if commits else []}


@development.get("/rest/dev-status/latest/issue/summary")
def development_summary(request: SiteRequest) -> Any:
    issue = request.state.issue(request.text("issueId") or "", request.user)
    count = len(request.state.development.get(issue.id, []))
    return {"errors": [], "summary": {"repository": {"overall": {"count": count, "dataType": "repository"}}}}
