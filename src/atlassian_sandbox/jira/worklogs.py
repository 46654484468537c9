from datetime import UTC, datetime
from typing import Any

from atlassian_sandbox.http import NO_CONTENT, ApiRoutes, JsonObject, Refusal, Response, SiteRequest, optional_object
from atlassian_sandbox.jira.fields import InvalidValue, format_duration, parse_duration
from atlassian_sandbox.jira.issues import read_text
from atlassian_sandbox.jira.render import Renderer, page_of
from atlassian_sandbox.model import Issue, WorklogEntry

routes = ApiRoutes("jira")


def _find(issue: Issue, number: str) -> WorklogEntry:
    for worklog in issue.worklogs:
        if worklog.id == number:
            return worklog
    raise Refusal(404, f"Cannot find worklog with id: '{number}'.")


def _render(request: SiteRequest, issue: Issue, worklog: WorklogEntry) -> JsonObject:
    return Renderer(request).worklog(issue, worklog, format_duration(worklog.seconds))


@routes.get("/issue/{issue}/worklog")
def list_worklogs(request: SiteRequest) -> Any:
    issue = request.state.issue(request.parameters["issue"], request.user)
    after, before = request.number("startedAfter", 0), request.number("startedBefore", 2**62)
    worklogs = [each for each in issue.worklogs if after <= each.started.timestamp() * 1000 < before]
    page, start, size = page_of(worklogs, request, default=5000)
    shown = [_render(request, issue, worklog) for worklog in page]
    return {"startAt": start, "maxResults": size, "total": len(worklogs), "worklogs": shown}


@routes.get("/issue/{issue}/worklog/{worklog}")
def get_worklog(request: SiteRequest) -> Any:
    issue = request.state.issue(request.parameters["issue"], request.user)
    return _render(request, issue, _find(issue, request.parameters["worklog"]))


def _seconds(body: JsonObject) -> int | None:
    if body.get("timeSpentSeconds") is not None:
        return int(body["timeSpentSeconds"])
    if body.get("timeSpent") is None:
        return None
    try:
        return parse_duration(body["timeSpent"])
    except InvalidValue as error:
        raise Refusal(400, errors={"timeLogged": str(error)}) from None


def _started(body: JsonObject) -> datetime | None:
    value = body.get("started")
    if value is None:
        return None
    try:
        return datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%f%z").astimezone(UTC)
    except ValueError:
        message = f"The date '{value}' is not valid. Use a form such as 2026-11-17T09:00:00.000+0000."
        raise Refusal(400, errors={"started": message}) from None


@routes.post("/issue/{issue}/worklog")
def add_worklog(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    body, now = request.object, request.state.now()
    seconds = _seconds(body)
    if not seconds:
        raise Refusal(400, errors={"timeLogged": "You must indicate the time spent working."})
    comment = read_text(request, body["comment"], "comment") if body.get("comment") is not None else None
    worklog = WorklogEntry(request.state.new_id(), request.user.id, comment, _started(body) or now, seconds, now, now)
    issue.worklogs.append(worklog)
    _adjust_estimate(request, issue, seconds)
    return Response(201, _render(request, issue, worklog))


def _adjust_estimate(request: SiteRequest, issue: Issue, seconds: int) -> None:
    tracking = optional_object(issue.values.get("timetracking"))
    try:
        match request.text("adjustEstimate") or "auto":
            case "new":
                remaining = parse_duration(request.text("newEstimate"))
            case "manual":
                reduced = parse_duration(request.text("reduceBy"))
                remaining = max(tracking.get("remainingEstimateSeconds", 0) - reduced, 0)
            case "leave":
                return
            case _ if "remainingEstimateSeconds" in tracking:
                remaining = max(tracking["remainingEstimateSeconds"] - seconds, 0)
            case _:
                return
    except InvalidValue as error:
        raise Refusal(400, errors={"adjustEstimate": str(error)}) from None
    issue.values["timetracking"] = tracking | {"remainingEstimateSeconds": remaining}


@routes.put("/issue/{issue}/worklog/{worklog}")
def edit_worklog(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    worklog, body = _find(issue, request.parameters["worklog"]), request.object
    worklog.seconds = _seconds(body) or worklog.seconds
    worklog.started = _started(body) or worklog.started
    if body.get("comment") is not None:
        worklog.comment = read_text(request, body["comment"], "comment")
    worklog.updated = request.state.now()
    return _render(request, issue, worklog)


@routes.delete("/issue/{issue}/worklog/{worklog}")
def delete_worklog(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    issue.worklogs.remove(_find(issue, request.parameters["worklog"]))
    return NO_CONTENT
