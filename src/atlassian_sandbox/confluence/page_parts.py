"""Labels, restrictions, templates, views, moving and copying, in Confluence's older API."""

from datetime import date
from typing import Any, Literal, cast

from atlassian_sandbox.confluence import pages
from atlassian_sandbox.confluence.content import move_below
from atlassian_sandbox.confluence.content_json import ContentJson
from atlassian_sandbox.confluence.users import all_groups, group_id, group_json, user_json
from atlassian_sandbox.documents import local_id
from atlassian_sandbox.http import (
    NO_CONTENT,
    ApiRoutes,
    JsonObject,
    Refusal,
    Response,
    SiteRequest,
    as_object,
    one_or_many,
    optional_list,
    optional_object,
)
from atlassian_sandbox.model import AllowedPeople, PageTemplate, StoredPage

routes = ApiRoutes("v1")


# ---- labels --------------------------------------------------------------------------------------


@routes.get("/content/{content}/label", only="datacenter")
def list_labels(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["content"], request.user)
    json = ContentJson(request)
    return json.paged([json.label(name) for name in page.labels], default=200)


@routes.post("/content/{content}/label")
def add_labels(request: SiteRequest) -> Any:
    page = request.state.writable_page(request.parameters["content"], request.user)
    for label in one_or_many(request.json):
        name = str(as_object(label, "label").get("name") or "").lower()
        if not name or " " in name:
            raise Refusal(400, f"The label '{name}' is not valid: it must not be empty or contain spaces.")
        if name not in page.labels:
            page.labels.append(name)
    json = ContentJson(request)
    return json.paged([json.label(name) for name in page.labels], default=200)


def _remove_label(request: SiteRequest, name: str) -> Response:
    page = request.state.writable_page(request.parameters["content"], request.user)
    if name not in page.labels:
        raise Refusal(404, f"The content with id {page.id} has no label '{name}'.")
    page.labels.remove(name)
    return NO_CONTENT


@routes.delete("/content/{content}/label")
def remove_label_by_query(request: SiteRequest) -> Any:
    return _remove_label(request, request.text("name") or "")


@routes.delete("/content/{content}/label/{label}")
def remove_label(request: SiteRequest) -> Any:
    return _remove_label(request, request.parameters["label"])


# ---- restrictions --------------------------------------------------------------------------------

Operation = Literal["read", "update"]
OPERATIONS: tuple[Operation, ...] = ("read", "update")


def _restriction(page: StoredPage, operation: str) -> AllowedPeople:
    return page.read if operation == "read" else page.update


def _restriction_json(request: SiteRequest, page: StoredPage, operation: str) -> JsonObject:
    restriction, json = _restriction(page, operation), ContentJson(request)
    users = json.simple_list([user_json(request, each) for each in sorted(restriction.users)])
    groups = json.simple_list([group_json(each) for each in sorted(restriction.groups)])
    return {"operation": operation, "restrictions": {"user": users, "group": groups}, "_links": {}, "_expandable": {}}


def _restrictions_json(request: SiteRequest, page: StoredPage) -> JsonObject:
    shown = [_restriction_json(request, page, each) for each in OPERATIONS]
    return ContentJson(request).paged(shown, default=100) | {"restrictionsHash": local_id(str(shown))}


@routes.get("/content/{content}/restriction", only="cloud")
def list_restrictions(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["content"], request.user)
    return _restrictions_json(request, page)


@routes.get("/content/{content}/restriction/byOperation")
def restrictions_by_operation(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["content"], request.user)
    return {each: _restriction_json(request, page, each) for each in OPERATIONS} | {"_links": {}}


@routes.get("/content/{content}/restriction/byOperation/{operation}")
def restrictions_of_operation(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["content"], request.user)
    return _restriction_json(request, page, _operation(request.parameters["operation"]))


def _operation(name: Any) -> str:
    if name not in OPERATIONS:
        raise Refusal(400, f"The operation '{name}' is not supported. Use read or update.")
    return str(name)


@routes.put("/content/{content}/restriction")
def set_restrictions(request: SiteRequest) -> Any:
    page = request.state.writable_page(request.parameters["content"], request.user)
    changed: dict[str, AllowedPeople] = {}
    for entry in _members(request.json):
        who = optional_object(entry.get("restrictions"))
        users = {_user(request, each) for each in _members(who.get("user"))}
        groups = {_group(request, each) for each in _members(who.get("group"))}
        changed[_operation(entry.get("operation"))] = AllowedPeople(users, groups)
    for operation, restriction in changed.items():
        if restriction and not restriction.admits(request.user):
            raise Refusal(400, "You cannot remove your own access to the content.")
        if operation == "read":
            page.read = restriction
        else:
            page.update = restriction
    return _restrictions_json(request, page)


@routes.delete("/content/{content}/restriction", only="cloud")
def remove_restrictions(request: SiteRequest) -> Any:
    page = request.state.writable_page(request.parameters["content"], request.user)
    page.read, page.update = AllowedPeople(), AllowedPeople()
    return _restrictions_json(request, page)


def _members(value: Any) -> list[JsonObject]:
    """An array of objects, bare or as the results of a list."""
    given = cast(JsonObject, value).get("results") if isinstance(value, dict) else value
    return [as_object(each, "member") for each in optional_list(given)]


def _user(request: SiteRequest, member: JsonObject) -> str:
    name = str(member.get("accountId") or member.get("username") or member.get("userKey"))
    user = request.state.find_user(name)
    if user is None:
        raise Refusal(404, f"No user found: {name}")
    return user.id


def _group(request: SiteRequest, member: JsonObject) -> str:
    for name in all_groups(request):
        if name == member.get("name") or group_id(name) == member.get("id"):
            return name
    raise Refusal(404, f"No group found: {member.get('name') or member.get('id')}")


# ---- moving and copying --------------------------------------------------------------------------


@routes.put("/content/{content}/move/{position}/{target}", only="cloud")
def move(request: SiteRequest) -> Any:
    page = request.state.writable_page(request.parameters["content"], request.user)
    target = request.state.page(request.parameters["target"], request.user)
    position = request.parameters["position"]
    if position not in ("append", "before", "after"):
        raise Refusal(400, f"The position '{position}' is not supported. Use append, before or after.")
    parent = target.id if position == "append" else target.parent
    if parent is None:
        raise Refusal(400, "A page cannot be moved beside the top page of a space.")
    move_below(request, page, parent)
    if position != "append":
        siblings = [each for each in request.state.children(parent, request.user) if each.id != page.id]
        index = next(number for number, each in enumerate(siblings) if each.id == target.id)
        siblings.insert(index + (position == "after"), page)
        for number, each in enumerate(siblings):
            each.position = number
    return {"pageId": page.id}


@routes.post("/content/{content}/copy", only="cloud")
def copy(request: SiteRequest) -> Any:
    body, state = request.object, request.state
    page = state.page(request.parameters["content"], request.user)
    destination = as_object(body.get("destination"), "destination")
    value = str(destination.get("value"))
    match destination.get("type"):
        case "parent_page":
            parent = state.page(value, request.user)
            space = state.spaces[parent.space]
            below: str | None = parent.id
        case "space":
            space = state.space(value, request.user)
            below = space.homepage
        case other:
            raise Refusal(400, f"The destination type '{other}' is not supported here.")
    title = str(body.get("pageTitle") or f"Copy of {page.title}")
    made = pages.new_page(request, space, below, title, page.current.body)
    if body.get("copyLabels"):
        made.labels = list(page.labels)
    return ContentJson(request).page(made)


# ---- templates and views -------------------------------------------------------------------------


def _template_json(request: SiteRequest, template: PageTemplate) -> JsonObject:
    json = ContentJson(request)
    rendered: JsonObject = {
        "templateId": template.id,
        "name": template.name,
        "description": template.description,
        "labels": [],
        "templateType": "page",
        "_links": {"self": f"{json.root}/template/{template.id}"},
        "_expandable": {"body": ""},
    }
    if json.has("body"):
        rendered["body"] = {"storage": json.body(template.body, "storage")}
    return rendered


@routes.get("/template/page", only="cloud")
def list_templates(request: SiteRequest) -> Any:
    space = request.text("spaceKey")
    found = [each for each in request.state.templates.values() if each.space == space]
    return ContentJson(request).paged([_template_json(request, each) for each in found])


@routes.get("/template/{template}", only="cloud")
def get_template(request: SiteRequest) -> Any:
    template = request.state.templates.get(request.parameters["template"])
    if template is None:
        raise Refusal(404, f"No template found with id: {request.parameters['template']}")
    return _template_json(request, template)


@routes.get("/analytics/content/{content}/views", only="cloud")
def views(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["content"], request.user)
    _check_date(request)
    return {"id": int(page.id), "count": sum(page.views.values())}


@routes.get("/analytics/content/{content}/viewers", only="cloud")
def viewers(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["content"], request.user)
    _check_date(request)
    return {"id": int(page.id), "count": len(page.views)}


def _check_date(request: SiteRequest) -> None:
    value = request.text("fromDate")
    try:
        date.fromisoformat((value or "2026-01-01")[:10])
    except ValueError:
        raise Refusal(400, f"The date '{value}' is not valid.") from None
