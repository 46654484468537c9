"""Searching with CQL."""

from typing import Any
from urllib.parse import urlencode

from atlassian_sandbox import cql
from atlassian_sandbox.confluence.content_json import ContentJson
from atlassian_sandbox.confluence.users import user_json
from atlassian_sandbox.http import ApiRoutes, JsonObject, Refusal, SiteRequest
from atlassian_sandbox.jira.render import zulu_time
from atlassian_sandbox.model import PageComment, Space, StoredPage
from atlassian_sandbox.query_comparison import search_words
from atlassian_sandbox.query_language import Clause, Function, Node, NotClause, QueryError, parse

routes = ApiRoutes("v1")


def _find(request: SiteRequest) -> list[cql.SearchItem]:
    query = request.text("cql") or ""
    if not query.strip():
        raise Refusal(400, "CQL was not set")
    try:
        return cql.select(request.state, request.user, query)
    except QueryError as error:
        raise Refusal(400, str(error)) from None


def _page(
    request: SiteRequest,
    hits: list[cql.SearchItem],
    default: int = 25,
) -> tuple[list[cql.SearchItem], JsonObject]:
    """One page of the hits, and its place: Cloud continues with a cursor, Data Center with an index."""
    cursor = request.text("cursor")
    start, limit = request.number("start", 0), request.number("limit", default)
    if cursor is not None:
        if not cursor.startswith("_sa_"):
            raise Refusal(400, "The provided cursor is invalid.")
        start = int(cursor.removeprefix("_sa_"))
    page = hits[start : start + limit]
    context = "/wiki" if request.is_cloud else "/confluence"
    links: JsonObject = {"base": request.base + context, "context": context, "self": request.base + request.path}
    if start + limit < len(hits):
        following: dict[str, Any] = {"cql": request.text("cql"), "limit": limit, "start": start + limit}
        if request.is_cloud:
            following |= {"next": "true", "cursor": f"_sa_{start + limit}"}
        links["next"] = f"{request.path.removeprefix(context)}?{urlencode(following)}"
    return page, {"start": start, "limit": limit, "size": len(page), "_links": links}


@routes.get("/search")
def search(request: SiteRequest) -> Any:
    hits = _find(request)
    page, about = _page(request, hits)
    words = _words(parse(request.text("cql") or "").where)
    results = [_result(request, hit, words) for hit in page]
    query = {"totalSize": len(hits), "cqlQuery": request.text("cql"), "searchDuration": 7}
    return {"results": results, **about, **query}


def _result(request: SiteRequest, hit: cql.SearchItem, words: list[str]) -> JsonObject:
    content = _content(request, hit)
    wants_excerpt = (request.text("excerpt") or "highlight") != "none"
    kind = "space" if hit.type == "space" else "content"
    return {
        kind: content,
        "title": hit.title,
        "excerpt": cql.excerpt(hit, words) if wants_excerpt else "",
        "url": content["_links"]["webui"],
        "resultGlobalContainer": {"title": hit.space.name, "displayUrl": f"/spaces/{hit.space.key}"},
        "breadcrumbs": [],
        "entityType": kind,
        "iconCssClass": f"aui-icon content-type-{hit.type}",
        "lastModified": zulu_time(hit.modified),
        "friendlyLastModified": hit.modified.strftime("%b %d, %Y"),
        "score": 0.0,
    }


def _content(request: SiteRequest, hit: cql.SearchItem) -> JsonObject:
    json = ContentJson(request)
    json.expand = [part.removeprefix("content.") for part in json.expand]
    match hit.content:
        case StoredPage() as page:
            return json.page(page)
        case PageComment() as comment:
            return json.comment(comment)
        case Space() as space:
            return json.space(space)
        case versions:
            return json.attachment(versions)


def _words(node: Node | None) -> list[str]:
    """The words that a query searches for in texts."""
    match node:
        case None:
            return []
        case Clause(_, "~", (operand, *_)) if not isinstance(operand, Function):
            return [word.strip('"*') for word in search_words(operand.text)]
        case Clause():
            return []
        case NotClause(part):
            return _words(part)
        case _:
            return [word for part in node.parts for word in _words(part)]


@routes.get("/content/search")
def search_content(request: SiteRequest) -> Any:
    hits = [hit for hit in _find(request) if hit.type != "space"]
    page, about = _page(request, hits)
    return {"results": [_content(request, hit) for hit in page], **about, "totalSize": len(hits)}


@routes.get("/search/user", only="cloud")
def search_users(request: SiteRequest) -> Any:
    """People by name: user.fullname ~ "anna"."""
    query = request.text("cql") or ""
    try:
        where = parse(query).where
    except QueryError as error:
        raise Refusal(400, f"Could not parse cql : {query}. {error}") from None
    if not isinstance(where, Clause) or where.field.lower() not in ("user", "user.fullname", "user.accountid"):
        raise Refusal(400, f"Could not parse cql : {query}. Search for user, user.fullname or user.accountid.")
    operand = where.operands[0]
    text = "" if isinstance(operand, Function) else operand.text
    state = request.state
    exact = where.field.lower() != "user.fullname"
    users = [user for user in state.users.values() if user.id == text] if exact else state.search_users(text)
    start, limit = request.number("start", 0), request.number("limit", 25)
    results: list[JsonObject] = [
        {
            "user": user_json(request, user.id),
            "title": user.display_name,
            "excerpt": "",
            "url": f"/people/{user.id}",
            "breadcrumbs": [],
            "entityType": "user",
            "iconCssClass": "aui-icon",
            "lastModified": zulu_time(state.now()),
            "score": 0.0,
        }
        for user in users[start : start + limit]
    ]
    about = {"start": start, "limit": limit, "size": len(results), "totalSize": len(users)}
    return {"results": results, **about, "cqlQuery": query, "searchDuration": 3, "_links": {}}
