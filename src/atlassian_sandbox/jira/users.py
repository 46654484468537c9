from typing import Any

from atlassian_sandbox.http import ApiRoutes, Refusal, SiteRequest
from atlassian_sandbox.jira.render import Renderer, page_of, paged
from atlassian_sandbox.model import SiteUser

routes = ApiRoutes("jira")
PERMISSIONS = (
    "ADD_COMMENTS",
    "ASSIGN_ISSUES",
    "BROWSE_PROJECTS",
    "CREATE_ATTACHMENTS",
    "CREATE_ISSUES",
    "DELETE_ISSUES",
    "EDIT_ISSUES",
    "LINK_ISSUES",
    "MANAGE_SPRINTS_PERMISSION",
    "MANAGE_WATCHERS",
    "MOVE_ISSUES",
    "SCHEDULE_ISSUES",
    "TRANSITION_ISSUES",
    "WORK_ON_ISSUES",
    "ADMINISTER",
    "ADMINISTER_PROJECTS",
)


@routes.get("/serverInfo")
def server_info(request: SiteRequest) -> Any:
    return {
        "baseUrl": request.base,
        "displayUrl": request.base,
        "version": "1001.0.0-SNAPSHOT" if request.is_cloud else "10.3.24",
        "versionNumbers": [1001, 0, 0] if request.is_cloud else [10, 3, 24],
        "deploymentType": "Cloud" if request.is_cloud else "Server",
        "buildNumber": 100290,
        "serverTime": request.state.now().strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "serverTitle": "Sandbox (no real site: for trying and testing)",
    }


@routes.get("/myself")
def myself(request: SiteRequest) -> Any:
    return Renderer(request).full_user(request.user)


@routes.get("/user")
def get_user(request: SiteRequest) -> Any:
    name = request.text("accountId") if request.is_cloud else (request.text("username") or request.text("key"))
    user = request.state.users.get(name or "") if request.is_cloud else request.state.find_user(name or "")
    if user is None:
        raise Refusal(404, f"The user with the {'account ID' if request.is_cloud else 'name'} '{name}' does not exist")
    return Renderer(request).full_user(user)


def _search(request: SiteRequest, users: list[SiteUser]) -> list[Any]:
    page, _, _ = page_of(users, request)
    return [Renderer(request).user(user.id) for user in page]


@routes.get("/user/search")
def search_users(request: SiteRequest) -> Any:
    account = request.text("accountId")
    if account:
        return _search(request, [user for user in request.state.users.values() if user.id == account])
    text = request.text("query") if request.is_cloud else request.text("username")
    if text is None:
        needed = "query, accountId or property" if request.is_cloud else "username"
        raise Refusal(400, f"The query parameter '{needed}' is required.")
    return _search(request, request.state.search_users(text if text != "." else ""))


@routes.get("/users/search", only="cloud")
def all_users(request: SiteRequest) -> Any:
    return _search(request, list(request.state.users.values()))


@routes.get("/user/bulk", only="cloud")
def users_by_id(request: SiteRequest) -> Any:
    ids = request.query.get("accountId", [])
    users = [Renderer(request).user(each) for each in ids if each in request.state.users]
    return paged(users, request, default=10)


@routes.get("/user/assignable/search")
def assignable_users(request: SiteRequest) -> Any:
    state = request.state
    issue, project = request.text("issueKey") or request.text("issueId"), request.text("project")
    if issue:
        target = state.project_of(state.issue(issue, request.user))
    elif project:
        target = state.project(project, request.user)
    else:
        raise Refusal(400, "The parameter 'project' or 'issueKey' is required.")
    text = (request.text("query") or "") if request.is_cloud else (request.text("username") or "")
    return _search(request, [user for user in state.search_users(text) if state.can_write(target, user)])


@routes.get("/mypermissions")
def my_permissions(request: SiteRequest) -> Any:
    state, user = request.state, request.user
    project, issue = request.text("projectKey"), request.text("issueKey")
    target = state.project(project, user) if project else None
    if issue:
        target = state.project_of(state.issue(issue, user))
    asked = request.words("permissions")
    unknown = [name for name in asked if name not in PERMISSIONS]
    if unknown:
        raise Refusal(400, f"Unrecognized permission: {', '.join(unknown)}")
    if request.is_cloud and not asked:
        raise Refusal(400, "The 'permissions' query parameter is required.")
    shown = {name: _permission(request, name, target) for name in asked or PERMISSIONS}
    return {"permissions": shown}


def _permission(request: SiteRequest, name: str, project: Any) -> Any:
    projects = [project] if project else request.state.visible_projects(request.user)
    if name.startswith("ADMINISTER"):
        have = request.user.is_admin
    elif name == "BROWSE_PROJECTS":
        have = bool(projects)
    else:
        have = any(request.state.can_write(each, request.user) for each in projects)
    title = name.replace("_PERMISSION", "").replace("_", " ").capitalize()
    kind = "GLOBAL" if name == "ADMINISTER" else "PROJECT"
    number = str(PERMISSIONS.index(name) + 10)
    return {"id": number, "key": name, "name": title, "type": kind, "description": title, "havePermission": have}
