"""Versions and components of projects."""

from typing import Any

from atlassian_sandbox.http import NO_CONTENT, ApiRoutes, JsonObject, Refusal, Response, SiteRequest
from atlassian_sandbox.jira.render import Renderer, paged
from atlassian_sandbox.model import Component, JiraProject, Version

routes = ApiRoutes("jira")


def _administered(request: SiteRequest, name: str) -> JiraProject:
    project = request.state.project(name, request.user)
    if not (request.user.is_admin or project.lead == request.user.id):
        raise Refusal(403, "You must be a project administrator to change versions and components.")
    return project


# ---- versions ------------------------------------------------------------------------------------


@routes.get("/project/{project}/versions")
def all_versions(request: SiteRequest) -> Any:
    project = request.state.project(request.parameters["project"], request.user)
    return [Renderer(request).version(version, project) for version in project.versions]


@routes.get("/project/{project}/version")
def list_versions(request: SiteRequest) -> Any:
    project = request.state.project(request.parameters["project"], request.user)
    wanted, statuses = (request.text("query") or "").casefold(), request.words("status")
    found = [
        version
        for version in project.versions
        if wanted in version.name.casefold()
        if not statuses or _status(version) in statuses
    ]
    return paged([Renderer(request).version(version, project) for version in found], request)


def _status(version: Version) -> str:
    return "archived" if version.archived else "released" if version.released else "unreleased"


def _find_version(request: SiteRequest) -> tuple[JiraProject, Version]:
    for project in request.state.visible_projects(request.user):
        for version in project.versions:
            if version.id == request.parameters["version"]:
                return project, version
    raise Refusal(404, f"Could not find version for id '{request.parameters['version']}'.")


@routes.get("/version/{version}")
def get_version(request: SiteRequest) -> Any:
    project, version = _find_version(request)
    return Renderer(request).version(version, project)


@routes.post("/version")
def create_version(request: SiteRequest) -> Any:
    body = request.object
    project = _administered(request, str(body.get("projectId") or body.get("project") or ""))
    name = str(body.get("name") or "")
    if not name:
        raise Refusal(400, errors={"name": "You must specify a valid version name."})
    if any(version.name == name for version in project.versions):
        raise Refusal(400, errors={"name": "A version with this name already exists in this project."})
    version = Version(request.state.new_id(), name)
    _change_version(version, body)
    project.versions.append(version)
    return Response(201, Renderer(request).version(version, project))


def _change_version(version: Version, body: JsonObject) -> None:
    version.name = body.get("name") or version.name
    version.description = body.get("description", version.description)
    version.released = body.get("released", version.released)
    version.archived = body.get("archived", version.archived)
    version.start_date = body.get("startDate", version.start_date)
    version.release_date = body.get("releaseDate", version.release_date)


@routes.put("/version/{version}")
def edit_version(request: SiteRequest) -> Any:
    project, version = _find_version(request)
    _administered(request, project.key)
    _change_version(version, request.object)
    return Renderer(request).version(version, project)


@routes.post("/version/{version}/removeAndSwap")
def delete_version(request: SiteRequest) -> Any:
    project, version = _find_version(request)
    _administered(request, project.key)
    body = request.object
    for field, option in (("fixVersions", "moveFixIssuesTo"), ("versions", "moveAffectedIssuesTo")):
        target = body.get(option)
        for issue in request.state.issues.values():
            if version.id in (issue.values.get(field) or []):
                kept = [each for each in issue.values[field] if each != version.id]
                issue.values[field] = [*kept, str(target)] if target else kept
    project.versions.remove(version)
    return NO_CONTENT


@routes.get("/version/{version}/relatedIssueCounts")
def version_counts(request: SiteRequest) -> Any:
    _, version = _find_version(request)
    issues = request.state.issues.values()
    fixed = sum(version.id in (issue.values.get("fixVersions") or []) for issue in issues)
    affected = sum(version.id in (issue.values.get("versions") or []) for issue in issues)
    link = f"{Renderer(request).root}/version/{version.id}"
    return {"self": link, "issuesFixedCount": fixed, "issuesAffectedCount": affected}


# ---- components ----------------------------------------------------------------------------------


@routes.get("/project/{project}/components")
def all_components(request: SiteRequest) -> Any:
    project = request.state.project(request.parameters["project"], request.user)
    return [Renderer(request).component(component, project) for component in project.components]


@routes.get("/project/{project}/component", only="cloud")
def list_components(request: SiteRequest) -> Any:
    return paged(all_components(request), request)


def _find_component(request: SiteRequest) -> tuple[JiraProject, Component]:
    for project in request.state.visible_projects(request.user):
        for component in project.components:
            if component.id == request.parameters["component"]:
                return project, component
    raise Refusal(404, f"The component with id {request.parameters['component']} does not exist.")


@routes.get("/component/{component}")
def get_component(request: SiteRequest) -> Any:
    project, component = _find_component(request)
    return Renderer(request).component(component, project)


@routes.post("/component")
def create_component(request: SiteRequest) -> Any:
    body = request.object
    project = _administered(request, str(body.get("project") or ""))
    if not body.get("name"):
        raise Refusal(400, errors={"name": "The component name specified is invalid - cannot be an empty string."})
    component = Component(request.state.new_id(), body["name"], body.get("description") or "")
    component.lead = _lead(request, body)
    project.components.append(component)
    return Response(201, Renderer(request).component(component, project))


def _lead(request: SiteRequest, body: JsonObject) -> str | None:
    name = body.get("leadAccountId" if request.is_cloud else "leadUserName")
    if name is None:
        return None
    user = request.state.find_user(name)
    if user is None:
        raise Refusal(400, errors={"lead": f"The user '{name}' does not exist."})
    return user.id


@routes.put("/component/{component}")
def edit_component(request: SiteRequest) -> Any:
    project, component = _find_component(request)
    _administered(request, project.key)
    body = request.object
    component.name = body.get("name") or component.name
    component.description = body.get("description", component.description)
    component.lead = _lead(request, body) or component.lead
    return Renderer(request).component(component, project)


@routes.delete("/component/{component}")
def delete_component(request: SiteRequest) -> Any:
    project, component = _find_component(request)
    _administered(request, project.key)
    target = request.text("moveIssuesTo")
    for issue in request.state.issues.values():
        if component.id in (issue.values.get("components") or []):
            kept = [each for each in issue.values["components"] if each != component.id]
            issue.values["components"] = [*kept, target] if target else kept
    project.components.remove(component)
    return NO_CONTENT
