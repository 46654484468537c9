from typing import Any

from atlassian_sandbox.http import NO_CONTENT, ApiRoutes, JsonObject, Refusal, SiteRequest
from atlassian_sandbox.jira.render import Renderer, paged
from atlassian_sandbox.jira.search import find
from atlassian_sandbox.model import Filter

routes = ApiRoutes("jira")


def _render(request: SiteRequest, saved: Filter) -> JsonObject:
    renderer = Renderer(request)
    link = f"{renderer.root}/filter/{saved.id}"
    return {
        "self": link,
        "id": saved.id,
        "name": saved.name,
        "description": saved.description,
        "owner": renderer.user(saved.owner),
        "jql": saved.jql,
        "viewUrl": f"{request.base}/issues/?filter={saved.id}",
        "searchUrl": f"{renderer.root}/search?jql={saved.jql}",
        "favourite": saved.favourite,
        "favouritedCount": int(saved.favourite),
        "sharePermissions": [{"id": 1, "type": "loggedin"}],
    }


def _find(request: SiteRequest) -> Filter:
    saved = request.state.filters.get(request.parameters["filter"])
    if saved is None:
        raise Refusal(400, "The selected filter is not available to you, perhaps it has been deleted.")
    return saved


@routes.get("/filter/search", only="cloud")
def search_filters(request: SiteRequest) -> Any:
    wanted, owner = (request.text("filterName") or "").casefold(), request.text("accountId")
    found = [
        saved
        for saved in request.state.filters.values()
        if wanted in saved.name.casefold() and owner in (None, saved.owner)
    ]
    expand = set(request.words("expand"))
    always = {"self", "id", "name"}
    shown = [
        {name: value for name, value in _render(request, saved).items() if name in always | expand} for saved in found
    ]
    return paged(shown, request)


@routes.get("/filter/my", only="cloud")
def my_filters(request: SiteRequest) -> Any:
    return [_render(request, saved) for saved in request.state.filters.values() if saved.owner == request.user.id]


@routes.get("/filter/favourite")
def favourite_filters(request: SiteRequest) -> Any:
    return [_render(request, saved) for saved in request.state.filters.values() if saved.favourite]


@routes.get("/filter/{filter}")
def get_filter(request: SiteRequest) -> Any:
    return _render(request, _find(request))


@routes.post("/filter")
def create_filter(request: SiteRequest) -> Any:
    body = request.object
    if not body.get("name"):
        raise Refusal(400, errors={"name": "You must specify a name to save this filter as."})
    find(request, body.get("jql") or "")
    saved = Filter(
        request.state.new_id(), body["name"], request.user.id, body.get("jql") or "", body.get("description") or ""
    )
    request.state.filters[saved.id] = saved
    return _render(request, saved)


@routes.delete("/filter/{filter}")
def delete_filter(request: SiteRequest) -> Any:
    request.state.filters.pop(_find(request).id)
    return NO_CONTENT
