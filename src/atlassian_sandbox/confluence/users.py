"""People and groups in Confluence's older API."""

from typing import Any

from atlassian_sandbox.documents import local_id
from atlassian_sandbox.http import ApiRoutes, JsonObject, Refusal, SiteRequest, optional_list
from atlassian_sandbox.model import SiteUser

routes = ApiRoutes("v1")
routes_v2 = ApiRoutes("v2")


def user_json(request: SiteRequest, id: str) -> JsonObject:
    user = request.state.user(id)
    picture = {"path": f"/avatar/{user.name}", "width": 48, "height": 48, "isDefault": False}
    common: JsonObject = {"profilePicture": picture, "displayName": user.display_name}
    if request.is_cloud:
        names = {"accountId": user.id, "accountType": "atlassian", "email": user.email, "publicName": user.display_name}
        return {"type": "known", **names, **common, "_expandable": {}, "_links": {}}
    return {"type": "known", "username": user.name, "userKey": user.id, **common}


@routes.get("/user/current")
def current_user(request: SiteRequest) -> Any:
    return user_json(request, request.user.id)


@routes.get("/user")
def get_user(request: SiteRequest) -> Any:
    name = request.text("accountId") if request.is_cloud else (request.text("username") or request.text("key"))
    user = request.state.users.get(name or "") if request.is_cloud else request.state.find_user(name or "")
    if user is None:
        raise Refusal(404, f"No user found with {'account id' if request.is_cloud else 'username'}: {name}")
    return user_json(request, user.id)


@routes.get("/user/bulk", only="cloud")
def users_by_id(request: SiteRequest) -> Any:
    wanted = request.query.get("accountId", [])
    found = [user_json(request, each) for each in wanted if each in request.state.users]
    return {"results": found, "start": 0, "limit": 200, "size": len(found), "_links": {}}


@routes_v2.post("/users-bulk")
def users_bulk(request: SiteRequest) -> Any:
    wanted = [str(each) for each in optional_list(request.object.get("accountIds"))]
    users = [request.state.users[each] for each in wanted if each in request.state.users]
    return {"results": [_v2(user) for user in users], "_links": {"base": f"{request.base}/wiki"}}


def _v2(user: SiteUser) -> JsonObject:
    return {
        "accountId": user.id,
        "accountType": "atlassian",
        "accountStatus": "active" if user.active else "inactive",
        "displayName": user.display_name,
        "publicName": user.display_name,
        "email": user.email,
        "timeZone": user.time_zone,
        "isExternalCollaborator": False,
    }


def group_id(name: str) -> str:
    return local_id(f"group {name}")


def group_json(name: str) -> JsonObject:
    return {"type": "group", "name": name, "id": group_id(name), "_links": {}}


def all_groups(request: SiteRequest) -> list[str]:
    return sorted({name for user in request.state.users.values() for name in user.groups})


@routes.get("/group/picker", only="cloud")
def find_groups(request: SiteRequest) -> Any:
    wanted = (request.text("query") or "").casefold()
    found = [group_json(name) for name in all_groups(request) if wanted in name]
    start, limit = request.number("start", 0), request.number("limit", 200)
    page = found[start : start + limit]
    return {"results": page, "start": start, "limit": limit, "size": len(page), "_links": {}}


@routes.get("/group")
def list_groups(request: SiteRequest) -> Any:
    found = [group_json(name) for name in all_groups(request)]
    start, limit = request.number("start", 0), request.number("limit", 200)
    page = found[start : start + limit]
    return {"results": page, "start": start, "limit": limit, "size": len(page), "_links": {}}
