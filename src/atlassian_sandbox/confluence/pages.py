"""Pages in Confluence's API version 2."""

from collections.abc import Callable
from typing import Any

from atlassian_sandbox.confluence.bodies import body_as, read_body
from atlassian_sandbox.confluence.lists import cursor_page
from atlassian_sandbox.http import (
    NO_CONTENT,
    ApiRoutes,
    JsonObject,
    Refusal,
    Response,
    SiteRequest,
    as_object,
    optional_object,
)
from atlassian_sandbox.jira.render import zulu_time
from atlassian_sandbox.model import PageVersion, RichText, Space, StoredPage

routes = ApiRoutes("v2")


def slug(title: str) -> str:
    return title.replace(" ", "+")


def version_json(version: PageVersion) -> JsonObject:
    return {
        "createdAt": zulu_time(version.created),
        "message": version.message,
        "number": version.number,
        "minorEdit": version.minor,
        "authorId": version.author,
    }


def page_json(request: SiteRequest, page: StoredPage, *, version: PageVersion | None = None) -> JsonObject:
    shown = version or page.current
    space = request.state.spaces[page.space]
    web = f"/spaces/{page.space}/pages/{page.id}/{slug(shown.title)}"
    rendered: JsonObject = {
        "id": page.id,
        "status": page.status,
        "title": shown.title,
        "spaceId": space.id,
        "parentId": page.parent,
        "parentType": "page" if page.parent else None,
        "position": page.position,
        "authorId": page.created.author,
        "ownerId": page.owner or page.created.author,
        "lastOwnerId": None,
        "createdAt": zulu_time(page.created.created),
        "version": version_json(shown),
        "body": {},
        "_links": {"editui": f"/pages/resumedraft.action?draftId={page.id}", "webui": web, "tinyui": f"/x/{page.id}"},
    }
    return rendered


def add_body(request: SiteRequest, rendered: JsonObject, body: RichText) -> JsonObject:
    wanted = request.text("body-format")
    if wanted:
        shown = {"representation": wanted, "value": body_as(request.kind, body, wanted)}
        rendered["body"] = {wanted: shown}
    return rendered


def visible_pages(request: SiteRequest, *, kind: str = "page") -> list[StoredPage]:
    state = request.state
    statuses = request.words("status") or ["current", "archived"]
    return [
        page
        for page in state.pages.values()
        if page.type == kind and page.status in statuses and state.can_read(page, request.user)
    ]


def sort_pages(request: SiteRequest, pages: list[StoredPage]) -> list[StoredPage]:
    sort = request.text("sort") or "id"
    keys: dict[str, Callable[[StoredPage], Any]] = {
        "id": lambda page: int(page.id),
        "title": lambda page: page.title.casefold(),
        "created-date": lambda page: page.created.created,
        "modified-date": lambda page: page.current.created,
    }
    name = sort.removeprefix("-")
    if name not in keys:
        raise Refusal(400, f"The sort order '{sort}' is not supported.")
    return sorted(pages, key=keys[name], reverse=sort.startswith("-"))


@routes.get("/pages")
def list_pages(request: SiteRequest) -> Any:
    ids, spaces, title = request.words("id"), request.words("space-id"), request.text("title")
    pages = [
        page
        for page in visible_pages(request)
        if not ids or page.id in ids
        if not spaces or request.state.spaces[page.space].id in spaces
        if title is None or page.title == title
    ]
    return page_list(request, pages)


def page_list(request: SiteRequest, pages: list[StoredPage]) -> Response:
    ordered = sort_pages(request, pages)
    return cursor_page(request, [add_body(request, page_json(request, page), page.current.body) for page in ordered])


@routes.get("/pages/{page}")
def get_page(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["page"], request.user, status=("current", "archived", "trashed"))
    statuses = request.words("status")
    if (statuses and page.status not in statuses) or (not statuses and page.status == "trashed"):
        raise Refusal(404, f"No content found with id: {page.id}")
    number = request.number("version", page.current.number)
    version = find_version(page, number)
    rendered = add_body(request, page_json(request, page, version=version), version.body)
    return rendered | _included(request, page)


def find_version(page: StoredPage, number: int) -> PageVersion:
    for version in page.versions:
        if version.number == number:
            return version
    raise Refusal(404, f"The version {number} of the content with id {page.id} does not exist.")


def _included(request: SiteRequest, page: StoredPage) -> JsonObject:
    included: JsonObject = {}
    if request.flag("include-labels"):
        labels = [label_json(label) for label in page.labels]
        included["labels"] = {"results": labels, "meta": {"hasMore": False}, "_links": {}}
    if request.flag("include-versions"):
        versions = [version_json(version) for version in reversed(page.versions)]
        included["versions"] = {"results": versions, "meta": {"hasMore": False}, "_links": {}}
    return included


def label_json(name: str) -> JsonObject:
    number = 30000 + sum(ord(letter) * (index + 1) for index, letter in enumerate(name)) % 10000
    return {"id": str(number), "name": name, "prefix": "global"}


def check_title(request: SiteRequest, space: Space, title: str, *, apart_from: str | None = None) -> None:
    """Two pages of a space cannot have the same title."""
    if not title.strip():
        raise Refusal(400, "The title must not be empty.")
    for page in request.state.pages.values():
        same = page.space == space.key and page.status == "current" and page.type == "page"
        if same and page.id != apart_from and page.title.casefold() == title.casefold():
            raise Refusal(
                400, "A page with this title already exists: A page already exists with the same TITLE in this space"
            )


def new_page(
    request: SiteRequest, space: Space, parent: str | None, title: str, body: RichText, *, status: Any = "current"
) -> StoredPage:
    """Raises Refusal 403 or 400 if the user cannot create a page there."""
    state, user = request.state, request.user
    if not space.writers & user.groups:
        raise Refusal(403, f"You do not have permission to create content in the space {space.key}.")
    check_title(request, space, title)
    if parent is not None:
        above = state.page(parent, user)
        if above.space != space.key:
            raise Refusal(400, "The parent must be in the same space.")
    version = PageVersion(1, title, body, user.id, state.now())
    position = len([page for page in state.pages.values() if page.parent == parent])
    page = StoredPage(state.new_id(), space.key, parent, [version], status=status, position=position)
    state.pages[page.id] = page
    return page


@routes.post("/pages")
def create_page(request: SiteRequest) -> Any:
    body = request.object
    space = request.state.space_by_id(str(body.get("spaceId")), request.user)
    parent = body.get("parentId")
    if parent is None and not request.flag("root-level"):
        parent = space.homepage
    content = page_body(request, body.get("body"))
    page = new_page(
        request, space, parent, str(body.get("title") or ""), content, status=body.get("status") or "current"
    )
    wanted = page.current.body.format
    shown = {"representation": wanted, "value": page.current.body.value}
    return page_json(request, page) | {"body": {wanted: shown}}


def page_body(request: SiteRequest, value: Any) -> RichText:
    """The body of a request: {"representation": ..., "value": ...}, possibly nested under its format."""
    given = optional_object(value)
    if "representation" not in given and len(given) == 1:
        given = optional_object(next(iter(given.values())))
    if not given:
        return RichText("storage", "")
    return read_body(request.kind, given.get("value"), str(given.get("representation")))


@routes.put("/pages/{page}")
def update_page(request: SiteRequest) -> Any:
    state = request.state
    page = state.writable_page(request.parameters["page"], request.user)
    body = request.object
    if str(body.get("id")) != page.id:
        raise Refusal(400, "The id in the body must match the id in the path.")
    number = as_object(body.get("version"), "version").get("number")
    title = str(body.get("title") or page.title)
    content = page_body(request, body["body"])
    message = str(body["version"].get("message") or "")
    parent = page.parent if body.get("parentId") is None else str(body["parentId"])
    if parent is not None and parent != page.parent:
        above = state.page(parent, request.user)
        if page.id in (above.id, *(each.id for each in state.ancestors(above))):
            raise Refusal(400, "A page cannot be moved below itself.")
    save(request, page, number, title, content, message=message)
    page.parent = parent
    wanted = page.current.body.format
    return page_json(request, page) | {"body": {wanted: {"representation": wanted, "value": page.current.body.value}}}


def save(
    request: SiteRequest,
    page: StoredPage,
    number: Any,
    title: str,
    body: RichText,
    *,
    message: str = "",
    minor: bool = False,
) -> None:
    """Add a version to a page. Raises Refusal 409 if the number is not the next one."""
    current = page.current.number
    if number != current + 1:
        raise Refusal(
            409,
            f"Version must be incremented when updating a page. Current version is: {current}. "
            f"Provided version is: {number}. Another user may have saved the page in between.",
        )
    check_title(request, request.state.spaces[page.space], title, apart_from=page.id)
    page.versions.append(PageVersion(number, title, body, request.user.id, request.state.now(), message, minor))


@routes.put("/pages/{page}/title")
def rename_page(request: SiteRequest) -> Any:
    page = request.state.writable_page(request.parameters["page"], request.user)
    save(request, page, page.current.number + 1, str(request.object["title"]), page.current.body)
    return page_json(request, page)


@routes.delete("/pages/{page}")
def delete_page(request: SiteRequest) -> Any:
    statuses = ("trashed",) if request.flag("purge") else ("current", "draft", "archived")
    page = request.state.page(request.parameters["page"], request.user, status=statuses)
    if not request.state.can_update(page, request.user):
        raise Refusal(403, f"You do not have permission to delete the content with id {page.id}.")
    trash(request, page)
    return NO_CONTENT


def trash(request: SiteRequest, page: StoredPage) -> None:
    """Put a page into the trash, or remove it from there. Its children move up."""
    if page.status == "trashed":
        request.state.pages.pop(page.id)
        return
    page.status = "trashed"
    for child in request.state.pages.values():
        if child.parent == page.id:
            child.parent = page.parent


@routes.get("/pages/{page}/versions")
def list_versions(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["page"], request.user)
    newest_first = (request.text("sort") or "-modified-date").startswith("-")
    versions = list(reversed(page.versions)) if newest_first else page.versions
    shown: list[JsonObject] = []
    for version in versions:
        content = add_body(request, {"title": version.title, "id": page.id}, version.body)
        shown.append(version_json(version) | {"page": content})
    return cursor_page(request, shown)


@routes.get("/pages/{page}/versions/{number}")
def get_version(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["page"], request.user)
    number = int(request.parameters["number"])
    version = find_version(page, number)
    neighbours = {"prevVersion": number - 1, "nextVersion": number + 1}
    known = {name: other for name, other in neighbours.items() if any(other == each.number for each in page.versions)}
    return version_json(version) | known | {"contentTypeModified": False, "collaborators": [version.author]}


@routes.get("/pages/{page}/direct-children")
def list_children(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["page"], request.user)
    shown = [_short(request, child) for child in request.state.children(page.id, request.user)]
    return cursor_page(request, shown)


def _short(request: SiteRequest, page: StoredPage) -> JsonObject:
    space = request.state.spaces[page.space].id
    return {
        "id": page.id,
        "status": page.status,
        "title": page.title,
        "type": page.type,
        "spaceId": space,
        "childPosition": page.position,
    }


@routes.get("/pages/{page}/descendants")
def list_descendants(request: SiteRequest) -> Any:
    state = request.state
    page = state.page(request.parameters["page"], request.user)
    above = len(state.ancestors(page))
    shown: list[JsonObject] = []
    for child in state.descendants(page.id, request.user):
        depth = len(state.ancestors(child)) - above
        if depth <= request.number("depth", 5):
            short = _short(request, child)
            short.pop("spaceId")
            shown.append(short | {"parentId": child.parent, "depth": depth})
    return cursor_page(request, shown)


@routes.get("/pages/{page}/ancestors")
def list_ancestors(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["page"], request.user)
    shown = [{"id": each.id, "type": each.type} for each in request.state.ancestors(page)]
    return cursor_page(request, shown)


@routes.get("/pages/{page}/labels")
def list_labels(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["page"], request.user)
    return cursor_page(request, [label_json(label) for label in page.labels])


@routes.get("/labels/{label}/pages")
def pages_with_label(request: SiteRequest) -> Any:
    wanted = request.parameters["label"]
    pages = [page for page in visible_pages(request) if any(label_json(each)["id"] == wanted for each in page.labels)]
    return page_list(request, pages)


@routes.get("/pages/{page}/operations")
def operations(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["page"], request.user)
    names = ["read", *(("update", "delete") if request.state.can_update(page, request.user) else ())]
    return {"operations": [{"operation": name, "targetType": "page"} for name in names]}


@routes.get("/pages/{page}/properties")
def list_properties(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["page"], request.user)
    wanted = request.text("key")
    return cursor_page(request, [each for each in page.properties if wanted in (None, each["key"])])


@routes.post("/pages/{page}/properties")
def add_property(request: SiteRequest) -> Any:
    page = request.state.writable_page(request.parameters["page"], request.user)
    body = request.object
    key = body.get("key")
    if not key or any(each["key"] == key for each in page.properties):
        raise Refusal(400, f"The key '{key}' is missing, or a property with this key already exists.")
    version = {"number": 1, "createdAt": zulu_time(request.state.now()), "authorId": request.user.id}
    created = {"id": request.state.new_id(), "key": key, "value": body.get("value"), "version": version}
    page.properties.append(created)
    return created
