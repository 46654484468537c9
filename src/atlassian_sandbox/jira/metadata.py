"""Metadata: fields, their options, issue types, priorities, statuses, and the fields of a new issue."""

from typing import Any

from atlassian_sandbox.http import ApiRoutes, JsonObject, Refusal, SiteRequest
from atlassian_sandbox.jira.fields import EPIC_NAME, RANK, REQUEST_TYPE, Field, fields_of, find_field, schema_type
from atlassian_sandbox.jira.render import CATEGORIES, Renderer, page_of, paged
from atlassian_sandbox.model import JiraProject

routes = ApiRoutes("jira")


def _field_json(request: SiteRequest, field: Field) -> JsonObject:
    rendered: JsonObject = {
        "id": field.id,
        "name": field.name,
        "custom": field.is_custom,
        "orderable": field.editable,
        "navigable": True,
        "searchable": True,
        "clauseNames": field.clause_names,
        "schema": field.schema | {"type": schema_type(field)},
    }
    return rendered | ({"key": field.id} if request.is_cloud else {})


@routes.get("/field")
def all_fields(request: SiteRequest) -> Any:
    return [_field_json(request, field) for field in fields_of(request.kind)]


@routes.get("/field/search", only="cloud")
def search_fields(request: SiteRequest) -> Any:
    wanted, kinds, ids = (request.text("query") or "").casefold(), request.words("type"), request.query.get("id", [])
    shown: list[JsonObject] = [
        {
            "id": field.id,
            "name": field.name,
            "schema": field.schema | {"type": schema_type(field)},
            "description": "",
        }
        for field in sorted(fields_of(request.kind), key=lambda field: field.name)
        if wanted in field.name.casefold()
        if not kinds or ("custom" if field.is_custom else "system") in kinds
        if not ids or field.id in ids
    ]
    return paged(shown, request)


def _options(request: SiteRequest, field: str) -> list[Any]:
    if field not in request.state.options:
        raise Refusal(404, f"The custom field was not found: {field}.")
    return request.state.options[field]


@routes.get("/field/{field}/context", only="cloud")
def field_contexts(request: SiteRequest) -> Any:
    _options(request, request.parameters["field"])
    number = "1" + request.parameters["field"].removeprefix("customfield_")
    context = {"id": number, "name": "Default", "description": "", "isGlobalContext": True, "isAnyIssueType": True}
    return paged([context], request)


@routes.get("/field/{field}/context/{context}/option", only="cloud")
def context_options(request: SiteRequest) -> Any:
    options = _options(request, request.parameters["field"])
    shown = [{"id": option.id, "value": option.name, "disabled": False} for option in options]
    return paged(shown, request, default=100)


@routes.get("/customFields", only="datacenter")
def custom_fields(request: SiteRequest) -> Any:
    wanted = (request.text("search") or "").casefold()
    shown: list[JsonObject] = [
        {
            "id": field.id,
            "name": field.name,
            "type": field.custom,
            "numericId": int(field.id.removeprefix("customfield_")),
        }
        for field in fields_of(request.kind)
        if field.is_custom and wanted in field.name.casefold()
    ]
    return paged(shown, request)


@routes.get("/customFields/{field}/options", only="datacenter")
def custom_field_options(request: SiteRequest) -> Any:
    number = request.parameters["field"].removeprefix("customfield_")
    options = _options(request, f"customfield_{number}")
    shown = [{"id": int(option.id), "value": option.name, "disabled": False} for option in options]
    return {"total": len(shown), "options": shown}


@routes.get("/issuetype")
def issue_types(request: SiteRequest) -> Any:
    return [Renderer(request).issue_type(each) for each in request.state.issue_types]


@routes.get("/issuetype/project", only="cloud")
def issue_types_of_project(request: SiteRequest) -> Any:
    project = request.state.project(request.text("projectId") or "", request.user)
    return [Renderer(request).issue_type(each) for each in project.issue_types]


@routes.get("/priority")
def priorities(request: SiteRequest) -> Any:
    return [Renderer(request).named("priority", each) for each in request.state.priorities.values()]


@routes.get("/priority/search", only="cloud")
def search_priorities(request: SiteRequest) -> Any:
    return paged(priorities(request), request)


@routes.get("/resolution")
def resolutions(request: SiteRequest) -> Any:
    return [Renderer(request).named("resolution", each) for each in request.state.resolutions.values()]


@routes.get("/resolution/search", only="cloud")
def search_resolutions(request: SiteRequest) -> Any:
    return paged(resolutions(request), request)


@routes.get("/status")
def statuses(request: SiteRequest) -> Any:
    return [Renderer(request).status(each) for each in request.state.statuses]


@routes.get("/status/{status}")
def get_status(request: SiteRequest) -> Any:
    wanted = request.parameters["status"]
    for status in request.state.statuses.values():
        if wanted in (status.id, status.name):
            return Renderer(request).status(status.id)
    raise Refusal(404, f"The status '{wanted}' does not exist.")


@routes.get("/statuses/search", only="cloud")
def search_statuses(request: SiteRequest) -> Any:
    wanted = (request.text("searchString") or "").casefold()
    names = {"new": "TODO", "indeterminate": "IN_PROGRESS", "done": "DONE"}
    shown = [
        {
            "id": status.id,
            "name": status.name,
            "statusCategory": names[status.category],
            "scope": {"type": "GLOBAL"},
            "description": status.description,
        }
        for status in request.state.statuses.values()
        if wanted in status.name.casefold()
    ]
    return paged(shown, request, default=200)


@routes.get("/statuscategory")
def status_categories(request: SiteRequest) -> Any:
    return [Renderer(request).status_category(key) for key in CATEGORIES]


@routes.get("/label", only="cloud")
def labels(request: SiteRequest) -> Any:
    found = {
        label for issue in request.state.visible_issues(request.user) for label in issue.values.get("labels") or ()
    }
    return paged(sorted(found), request, default=1000)


# ---- the fields of new issues and of changes -----------------------------------------------------


def settable_fields(request: SiteRequest, project: JiraProject, issue_type: str) -> dict[str, bool]:
    """The fields of the screen for an issue type, and whether each is required."""
    level = request.state.issue_types[issue_type].level
    required = {"summary", "issuetype", "project"}
    if level < 0:
        required.add("parent")
    if level == 1 and not request.is_cloud:
        required.add(EPIC_NAME)
    hidden = {RANK, REQUEST_TYPE, "resolution"}
    if project.type != "software":
        hidden |= {field.id for field in fields_of(request.kind) if "greenhopper" in field.custom}
    names = [field.id for field in fields_of(request.kind) if field.editable and field.id not in hidden]
    return {name: name in required for name in ("project", *names)}


def field_metadata(request: SiteRequest, project: JiraProject, name: str, *, required: bool) -> JsonObject:
    field = find_field(name, request.kind)
    if field is None:
        raise Refusal(404, f"The field '{name}' does not exist.")
    operations = ["add", "set", "remove"] if field.type == "array" else ["set"]
    metadata: JsonObject = {
        "required": required,
        "schema": field.schema | {"type": schema_type(field)},
        "name": field.name,
        "key": field.id,
        "hasDefaultValue": field.id in ("priority", "reporter"),
        "operations": operations,
    }
    allowed = _allowed_values(request, project, field)
    return metadata if allowed is None else metadata | {"allowedValues": allowed}


def _allowed_values(request: SiteRequest, project: JiraProject, field: Field) -> list[JsonObject] | None:
    renderer, state = Renderer(request), request.state
    match field.items or field.type:
        case "priority":
            return [renderer.named("priority", each) for each in state.priorities.values()]
        case "resolution":
            return [renderer.named("resolution", each) for each in state.resolutions.values()]
        case "issuetype":
            return [renderer.issue_type(each) for each in project.issue_types]
        case "component":
            return [renderer.component(each) for each in project.components]
        case "version":
            return [renderer.version(each) for each in project.versions]
        case "option":
            return [renderer.option(each) for each in state.options.get(field.id, [])]
        case "project":
            return [renderer.project(project)]
        case _:
            return None


@routes.get("/issue/createmeta/{project}/issuetypes")
def create_issue_types(request: SiteRequest) -> Any:
    project = request.state.project(request.parameters["project"], request.user)
    types = [Renderer(request).issue_type(each) for each in project.issue_types]
    return _created_page(request, types, "issueTypes")


@routes.get("/issue/createmeta/{project}/issuetypes/{type}")
def create_fields(request: SiteRequest) -> Any:
    project = request.state.project(request.parameters["project"], request.user)
    issue_type = request.parameters["type"]
    if issue_type not in project.issue_types:
        raise Refusal(404, f"The issue type '{issue_type}' does not exist in the project {project.key}.")
    fields = [
        field_metadata(request, project, name, required=required) | {"fieldId": name}
        for name, required in settable_fields(request, project, issue_type).items()
    ]
    return _created_page(request, fields, "fields")


def _created_page(request: SiteRequest, values: list[JsonObject], name: str) -> JsonObject:
    if not request.is_cloud:
        return paged(values, request)
    page, start, size = page_of(values, request)
    return {"startAt": start, "maxResults": size, "total": len(values), name: page}


@routes.get("/issue/{issue}/editmeta")
def edit_fields(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    project = request.state.project_of(issue)
    names = settable_fields(request, project, issue.values["issuetype"])
    shown = {
        name: field_metadata(request, project, name, required=required)
        for name, required in names.items()
        if name != "project"
    }
    return {"fields": shown}
