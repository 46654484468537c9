"""The service desk: queues, request types, and requests as customers see them."""

from datetime import datetime, timedelta
from typing import Any

from atlassian_sandbox.documents import doc, p, plain_text
from atlassian_sandbox.forms import read_form
from atlassian_sandbox.http import (
    NO_CONTENT,
    ApiRoutes,
    JsonObject,
    Refusal,
    Response,
    SiteRequest,
    as_object,
    optional_list,
    optional_object,
)
from atlassian_sandbox.jira import changes
from atlassian_sandbox.jira.fields import REQUEST_TYPE, Field, find_field, schema_type
from atlassian_sandbox.jira.issue_json import IssueJson
from atlassian_sandbox.jira.render import Renderer, jira_time
from atlassian_sandbox.jira.search import find
from atlassian_sandbox.jira.transitions import available, perform
from atlassian_sandbox.model import Attachment, Issue, IssueComment, RequestType, ServiceDesk, ServiceQueue

routes = ApiRoutes("service")


def _paged(request: SiteRequest, values: list[Any], default: int = 50) -> JsonObject:
    start, limit = request.number("start", 0), request.number("limit", default)
    page = values[start : start + limit]
    links: JsonObject = {"base": request.base, "context": "", "self": request.base + request.path}
    is_last = start + limit >= len(values)
    if not is_last:
        links["next"] = f"{request.base}{request.path}?start={start + limit}&limit={limit}"
    return {"size": len(page), "start": start, "limit": limit, "isLastPage": is_last, "_links": links, "values": page}


def _date(moment: datetime | None) -> JsonObject | None:
    if moment is None:
        return None
    return {
        "iso8601": moment.strftime("%Y-%m-%dT%H:%M:%S+0000"),
        "jira": jira_time(moment),
        "friendly": moment.strftime("%d/%b/%y %I:%M %p"),
        "epochMillis": int(moment.timestamp() * 1000),
    }


def _user(request: SiteRequest, user: str) -> JsonObject:
    rendered = Renderer(request).user(user) or {}
    names = ("accountId", "name", "key", "emailAddress", "displayName", "active", "timeZone")
    return {name: rendered[name] for name in names if name in rendered} | {"_links": {"self": rendered["self"]}}


@routes.get("/info")
def info(_: SiteRequest) -> Any:
    return {
        "version": "5.0.0-sandbox",
        "platformVersion": "1001.0.0-SNAPSHOT",
        "buildDate": None,
        "buildChangeSet": "",
        "isLicensedForUse": True,
    }


# ---- desks, queues and request types -------------------------------------------------------------


def _desk_json(request: SiteRequest, desk: ServiceDesk) -> JsonObject:
    project = request.state.projects[desk.project]
    names = {"projectId": project.id, "projectName": project.name, "projectKey": project.key}
    link = f"{request.base}/rest/servicedeskapi/servicedesk/{desk.id}"
    return {"id": desk.id, **names, "_links": {"self": link}}


def _desks(request: SiteRequest) -> list[ServiceDesk]:
    visible = {each.key for each in request.state.visible_projects(request.user)}
    return [desk for desk in request.state.desks.values() if desk.project in visible]


def _desk(request: SiteRequest, name: str | None = None) -> ServiceDesk:
    wanted = name or request.parameters["desk"]
    for desk in _desks(request):
        project = request.state.projects[desk.project]
        if wanted in (desk.id, project.key, project.id):
            return desk
    raise Refusal(404, f"The Service Desk with the id '{wanted}' does not exist.")


@routes.get("/servicedesk")
def list_desks(request: SiteRequest) -> Any:
    return _paged(request, [_desk_json(request, desk) for desk in _desks(request)])


@routes.get("/servicedesk/{desk}")
def get_desk(request: SiteRequest) -> Any:
    return _desk_json(request, _desk(request))


def _queue_json(request: SiteRequest, desk: ServiceDesk, queue: ServiceQueue) -> JsonObject:
    link = f"{request.base}/rest/servicedeskapi/servicedesk/{desk.id}/queue/{queue.id}"
    rendered: JsonObject = {"id": queue.id, "name": queue.name, "jql": queue.jql}
    rendered["fields"] = ["issuetype", "issuekey", "summary", "status", "assignee", "created"]
    if request.flag("includeCount"):
        rendered["issueCount"] = len(find(request, queue.jql))
    return rendered | {"_links": {"self": link}}


def _queue(request: SiteRequest, desk: ServiceDesk) -> ServiceQueue:
    for queue in desk.queues:
        if queue.id == request.parameters["queue"]:
            return queue
    raise Refusal(404, f"The queue with the id '{request.parameters['queue']}' does not exist.")


@routes.get("/servicedesk/{desk}/queue")
def list_queues(request: SiteRequest) -> Any:
    desk = _desk(request)
    return _paged(request, [_queue_json(request, desk, queue) for queue in desk.queues])


@routes.get("/servicedesk/{desk}/queue/{queue}")
def get_queue(request: SiteRequest) -> Any:
    desk = _desk(request)
    return _queue_json(request, desk, _queue(request, desk))


@routes.get("/servicedesk/{desk}/queue/{queue}/issue")
def issues_of_queue(request: SiteRequest) -> Any:
    queue = _queue(request, _desk(request))
    fields = ["issuetype", "summary", "status", "assignee", "reporter", "priority", "created"]
    render = IssueJson(request).render
    return _paged(request, [render(issue, fields, []) for issue in find(request, queue.jql)])


def _type_json(request: SiteRequest, desk: ServiceDesk, kind: RequestType) -> JsonObject:
    link = f"{request.base}/rest/servicedeskapi/servicedesk/{desk.id}/requesttype/{kind.id}"
    return {
        "id": kind.id,
        "name": kind.name,
        "description": kind.description,
        "helpText": "",
        "issueTypeId": kind.issue_type,
        "serviceDeskId": desk.id,
        "portalId": desk.id,
        "groupIds": ["1"],
        "_links": {"self": link},
    }


def _type(desk: ServiceDesk, number: str) -> RequestType:
    for kind in desk.request_types:
        if kind.id == number:
            return kind
    raise Refusal(404, f"The request type with the id '{number}' does not exist.")


@routes.get("/servicedesk/{desk}/requesttype")
def list_request_types(request: SiteRequest) -> Any:
    desk, wanted = _desk(request), (request.text("searchQuery") or "").casefold()
    found = [kind for kind in desk.request_types if wanted in kind.name.casefold()]
    return _paged(request, [_type_json(request, desk, kind) for kind in found], default=100)


@routes.get("/servicedesk/{desk}/requesttype/{type}")
def get_request_type(request: SiteRequest) -> Any:
    desk = _desk(request)
    return _type_json(request, desk, _type(desk, request.parameters["type"]))


@routes.get("/servicedesk/{desk}/requesttype/{type}/field")
def fields_of_request_type(request: SiteRequest) -> Any:
    kind = _type(_desk(request), request.parameters["type"])
    fields = [_field_json(request, name.rstrip("*"), required=name.endswith("*")) for name in kind.fields]
    return {"requestTypeFields": fields, "canRaiseOnBehalfOf": True, "canAddRequestParticipants": True}


def _field_json(request: SiteRequest, name: str, *, required: bool) -> JsonObject:
    field = find_field(name, request.kind) or Field(name, name, "string")
    options = request.state.options.get(name, [])
    return {
        "fieldId": name,
        "name": field.name,
        "description": "",
        "required": required,
        "defaultValues": [],
        "validValues": [{"value": each.id, "label": each.name, "children": []} for each in options],
        "presetValues": [],
        "jiraSchema": field.schema | {"type": schema_type(field)},
        "visible": True,
    }


@routes.get("/requesttype")
def all_request_types(request: SiteRequest) -> Any:
    wanted = (request.text("searchQuery") or "").casefold()
    found = [(desk, kind) for desk in _desks(request) for kind in desk.request_types if wanted in kind.name.casefold()]
    return _paged(request, [_type_json(request, desk, kind) for desk, kind in found], default=100)


# ---- requests ------------------------------------------------------------------------------------


def _request_issue(request: SiteRequest) -> Issue:
    issue = request.state.issue(request.parameters["issue"], request.user)
    if request.state.project_of(issue).type != "service_desk":
        raise Refusal(404, f"The request '{issue.key}' does not exist.")
    return issue


def _desk_of(request: SiteRequest, issue: Issue) -> ServiceDesk:
    return next(desk for desk in request.state.desks.values() if desk.project == issue.project)


def _status_json(request: SiteRequest, status: str, moment: datetime) -> JsonObject:
    named = request.state.statuses[status]
    return {"status": named.name, "statusCategory": named.category.upper(), "statusDate": _date(moment)}


def _request_json(request: SiteRequest, issue: Issue) -> JsonObject:
    desk = _desk_of(request, issue)
    link = f"{request.base}/rest/servicedeskapi/request/{issue.id}"
    names = ["summary", "description"]
    values = [
        {"fieldId": name, "label": name.capitalize(), "value": plain_text(issue.values.get(name))}
        for name in names
        if issue.values.get(name) is not None
    ]
    rendered: JsonObject = {
        "issueId": issue.id,
        "issueKey": issue.key,
        "summary": issue.values["summary"],
        "requestTypeId": issue.values.get(REQUEST_TYPE) or "",
        "serviceDeskId": desk.id,
        "createdDate": _date(issue.values["created"]),
        "reporter": _user(request, issue.values["reporter"]),
        "requestFieldValues": values,
        "currentStatus": _status_json(request, issue.values["status"], issue.values["updated"]),
        "_links": {
            "self": link,
            "jiraRest": f"{Renderer(request).root}/issue/{issue.id}",
            "web": f"{request.base}/servicedesk/customer/portal/{desk.id}/{issue.key}",
        },
    }
    expand = request.words("expand")
    if "requestType" in expand and issue.values.get(REQUEST_TYPE):
        rendered["requestType"] = _type_json(request, desk, _type(desk, issue.values[REQUEST_TYPE]))
    return rendered


@routes.get("/request/{issue}")
def get_request(request: SiteRequest) -> Any:
    return _request_json(request, _request_issue(request))


@routes.get("/request")
def my_requests(request: SiteRequest) -> Any:
    issues = find(request, "reporter = currentUser() ORDER BY created DESC")
    found = [issue for issue in issues if request.state.project_of(issue).type == "service_desk"]
    return _paged(request, [_request_json(request, issue) for issue in found])


@routes.post("/request")
def create_request(request: SiteRequest) -> Any:
    body, state = request.object, request.state
    desk = _desk(request, str(body.get("serviceDeskId")))
    kind = _type(desk, str(body.get("requestTypeId")))
    given = dict(as_object(body.get("requestFieldValues"), "requestFieldValues"))
    required = [name.rstrip("*") for name in kind.fields if name.endswith("*")]
    missing = [name for name in required if not given.get(name)]
    if missing:
        problem = "Your request could not be created. Please check the fields have been correctly filled in."
        raise Refusal(400, f"{problem} {', '.join(missing)}: is required.")
    foreign = [name for name in given if name not in {each.rstrip("*") for each in kind.fields}]
    if foreign:
        raise Refusal(400, f"The field '{foreign[0]}' is not part of the request type '{kind.name}'.")
    if isinstance(given.get("description"), str) and request.is_cloud:
        given["description"] = doc(p(given["description"]))
    project = state.projects[desk.project]
    values = changes.read_fields(request, project, given)
    reporter = state.find_user(str(body["raiseOnBehalfOf"])) if body.get("raiseOnBehalfOf") else request.user
    if reporter is None:
        raise Refusal(400, f"The customer '{body['raiseOnBehalfOf']}' does not exist.")
    values |= {"issuetype": kind.issue_type, REQUEST_TYPE: kind.id, "reporter": reporter.id}
    issue = changes.new_issue(state, project, values, request.user.id)
    issue.watchers += [
        user.id for name in optional_list(body.get("requestParticipants")) if (user := state.find_user(str(name)))
    ]
    return Response(201, _request_json(request, issue))


def _comment_json(request: SiteRequest, comment: IssueComment) -> JsonObject:
    return {
        "id": comment.id,
        "body": plain_text(comment.body),
        "public": comment.public,
        "author": _user(request, comment.author),
        "created": _date(comment.created),
        "_links": {"self": ""},
    }


@routes.get("/request/{issue}/comment")
def list_comments(request: SiteRequest) -> Any:
    public, internal = request.flag("public", default=True), request.flag("internal", default=True)
    shown = [
        _comment_json(request, comment)
        for comment in _request_issue(request).comments
        if (public if comment.public else internal)
    ]
    return _paged(request, shown, default=100)


@routes.post("/request/{issue}/comment")
def add_comment(request: SiteRequest) -> Any:
    issue, body = _request_issue(request), request.object
    if not body.get("body"):
        raise Refusal(400, "The comment must not be empty.")
    text = doc(p(body["body"])) if request.is_cloud else body["body"]
    comment = changes.add_comment(request.state, issue, request.user.id, text, public=bool(body.get("public", True)))
    return Response(201, _comment_json(request, comment))


@routes.get("/request/{issue}/transition")
def list_transitions(request: SiteRequest) -> Any:
    found = available(request, _request_issue(request))
    return _paged(request, [{"id": each.id, "name": each.name} for each in found], default=100)


@routes.post("/request/{issue}/transition")
def do_transition(request: SiteRequest) -> Any:
    issue, body = _request_issue(request), request.object
    comment = optional_object(body.get("additionalComment")).get("body")
    perform(request, issue, str(body.get("id")), {})
    if comment:
        changes.add_comment(request.state, issue, request.user.id, doc(p(comment)) if request.is_cloud else comment)
    return NO_CONTENT


@routes.get("/request/{issue}/status")
def list_statuses(request: SiteRequest) -> Any:
    issue = _request_issue(request)
    first = request.state.project_of(issue).first_status
    past = [(first, issue.values["created"])]
    past += [
        (item["to"], change.created) for change in issue.history for item in change.items if item["field"] == "status"
    ]
    shown = [_status_json(request, status, moment) for status, moment in reversed(past)]
    return _paged(request, shown, default=100)


@routes.get("/request/{issue}/participant")
def list_participants(request: SiteRequest) -> Any:
    issue = _request_issue(request)
    others = [each for each in issue.watchers if each != issue.values["reporter"]]
    return _paged(request, [_user(request, each) for each in others])


@routes.post("/servicedesk/{desk}/attachTemporaryFile")
def attach_temporary_file(request: SiteRequest) -> Any:
    _desk(request)
    shown: list[JsonObject] = []
    for file in read_form(request).files:
        number, now = f"temp{request.state.new_id()}", request.state.now()
        stored = Attachment(number, file.file_name, request.user.id, now, file.media_type, file.content)
        request.state.temporary_files[number] = stored
        shown.append({"temporaryAttachmentId": number, "fileName": file.file_name})
    return Response(201, {"temporaryAttachments": shown})


@routes.post("/request/{issue}/attachment")
def attach(request: SiteRequest) -> Any:
    issue, body = _request_issue(request), request.object
    names = [str(each) for each in optional_list(body.get("temporaryAttachmentIds"))]
    for name in names:
        if name not in request.state.temporary_files:
            raise Refusal(400, f"The temporary attachment '{name}' does not exist.")
    for name in dict.fromkeys(names):
        file = request.state.temporary_files.pop(name)
        file.id = request.state.new_id()
        issue.attachments.append(file)
    return Response(201, {"attachments": _paged(request, [])})


# ---- agreements on time --------------------------------------------------------------------------

AGREEMENTS = (("1", "Time to first response", timedelta(hours=4)), ("2", "Time to resolution", timedelta(hours=48)))


def _duration(span: timedelta) -> JsonObject:
    minutes = int(span.total_seconds() // 60)
    sign = "-" if minutes < 0 else ""
    return {"millis": int(span.total_seconds() * 1000), "friendly": f"{sign}{abs(minutes) // 60}h {abs(minutes) % 60}m"}


def _end(issue: Issue, number: str) -> datetime | None:
    """When an agreement was met: with the first answer, or with the resolution."""
    if number == "2":
        return issue.values.get("resolutiondate")
    answers = [comment.created for comment in issue.comments if comment.public]
    return min(answers) if answers else issue.values.get("resolutiondate")


@routes.get("/request/{issue}/sla")
def list_agreements(request: SiteRequest) -> Any:
    issue, now = _request_issue(request), request.state.now()
    shown: list[JsonObject] = []
    for number, name, goal in AGREEMENTS:
        start = issue.values["created"]
        end = _end(issue, number)
        elapsed = (end or now) - start
        cycle: JsonObject = {
            "startTime": _date(start),
            "breachTime": _date(start + goal),
            "breached": elapsed > goal,
            "goalDuration": _duration(goal),
            "elapsedTime": _duration(elapsed),
            "remainingTime": _duration(goal - elapsed),
        }
        rendered: JsonObject = {"id": number, "name": name, "completedCycles": [], "slaDisplayFormat": "NEW_SLA_FORMAT"}
        if end is not None:
            rendered["completedCycles"] = [cycle | {"stopTime": _date(end)}]
        else:
            rendered["ongoingCycle"] = cycle | {"paused": False, "withinCalendarHours": True}
        shown.append(rendered | {"_links": {"self": f"{request.base}{request.path}/{number}"}})
    return _paged(request, shown)
