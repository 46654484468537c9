from typing import Any

from atlassian_sandbox.http import ApiRoutes, JsonObject, SiteRequest
from atlassian_sandbox.jira.render import Renderer, paged
from atlassian_sandbox.model import JiraProject

routes = ApiRoutes("jira")


def full_project(request: SiteRequest, project: JiraProject) -> JsonObject:
    renderer = Renderer(request)
    versions = [renderer.version(version, project) for version in project.versions]
    components = [renderer.component(component) for component in project.components]
    types = [renderer.issue_type(each) for each in project.issue_types]
    return renderer.project(project) | {
        "description": project.description,
        "lead": renderer.user(project.lead),
        "components": components,
        "issueTypes": types,
        "assigneeType": "UNASSIGNED",
        "versions": versions,
        "roles": {},
    }


@routes.get("/project/search", only="cloud")
def search_projects(request: SiteRequest) -> Any:
    wanted = (request.text("query") or "").casefold()
    keys, ids, types = request.query.get("keys", []), request.query.get("id", []), request.words("typeKey")
    found = [
        project
        for project in request.state.visible_projects(request.user)
        if wanted in project.key.casefold() or wanted in project.name.casefold()
        if not keys or project.key in keys
        if not ids or project.id in ids
        if not types or project.type in types
    ]
    renderer, expand = Renderer(request), request.words("expand")
    shown = [renderer.project(project) | _expanded(request, project, expand) for project in sorted(found, key=_key)]
    return paged(shown, request)


def _key(project: JiraProject) -> str:
    return project.key


def _expanded(request: SiteRequest, project: JiraProject, expand: list[str]) -> JsonObject:
    full = full_project(request, project)
    return {name: full[name] for name in ("description", "lead", "issueTypes") if name in expand}


@routes.get("/project", only="datacenter")
def all_projects(request: SiteRequest) -> Any:
    renderer, expand = Renderer(request), request.words("expand")
    projects = sorted(request.state.visible_projects(request.user), key=_key)
    return [renderer.project(project) | _expanded(request, project, expand) for project in projects]


@routes.get("/project/{project}")
def get_project(request: SiteRequest) -> Any:
    return full_project(request, request.state.project(request.parameters["project"], request.user))


@routes.get("/project/{project}/statuses")
def project_statuses(request: SiteRequest) -> Any:
    project = request.state.project(request.parameters["project"], request.user)
    renderer = Renderer(request)
    ids = dict.fromkeys([project.first_status, *(transition.to for transition in project.transitions)])
    statuses = [renderer.status(each) for each in ids]
    shown = ("self", "id", "name", "subtask")
    types = [renderer.issue_type(each) for each in project.issue_types]
    return [{name: each[name] for name in shown} | {"statuses": statuses} for each in types]
