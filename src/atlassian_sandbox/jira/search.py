"""Searching issues with JQL: by token on Cloud, by index on Data Center."""

import base64
import binascii
from typing import Any

from atlassian_sandbox.http import ApiRoutes, JsonObject, Refusal, SiteRequest, optional_list
from atlassian_sandbox.jira.issue_json import IssueJson
from atlassian_sandbox.jql import select
from atlassian_sandbox.model import Issue
from atlassian_sandbox.query_language import QueryError, parse

routes = ApiRoutes("jira")


def find(request: SiteRequest, jql: str) -> list[Issue]:
    try:
        return select(request.state, request.user, jql)
    except QueryError as error:
        raise Refusal(400, str(error)) from None


def _options(request: SiteRequest) -> JsonObject:
    """The options of a search, from the body of a POST or the query of a GET."""
    if request.method == "POST":
        return request.object
    options: JsonObject = {"jql": request.text("jql"), "nextPageToken": request.text("nextPageToken")}
    options |= {"fields": request.words("fields"), "expand": ",".join(request.words("expand"))}
    for name in ("maxResults", "startAt"):
        if name in request.query:
            options[name] = request.number(name, 0)
    return options


def _expand(options: JsonObject) -> list[str]:
    expand: Any = options.get("expand")
    return expand.split(",") if isinstance(expand, str) else optional_list(expand)


@routes.get("/search/jql", only="cloud")
def search_by_token(request: SiteRequest) -> Any:
    options = _options(request)
    jql = options.get("jql") or ""
    if not jql.strip() or _is_unbounded(jql):
        raise Refusal(400, "Unbounded JQL queries are not allowed here. Please add a search restriction to your query.")
    return token_page(request, find(request, jql), options)


def token_page(request: SiteRequest, issues: list[Issue], options: JsonObject) -> JsonObject:
    """One page of issues, and the token of the next one."""
    start = _read_token(options.get("nextPageToken"))
    size = min(max(int(options.get("maxResults") or 50), 1), 5000)
    page = issues[start : start + size]
    render = IssueJson(request).render
    fields = options.get("fields") or ["id"]
    result: JsonObject = {"issues": [render(issue, fields, _expand(options)) for issue in page]}
    is_last = start + size >= len(issues)
    if not is_last:
        result["nextPageToken"] = base64.urlsafe_b64encode(f"start:{start + size}".encode()).decode()
    return result | {"isLast": is_last}


routes.post("/search/jql", only="cloud")(search_by_token)


def _is_unbounded(jql: str) -> bool:
    try:
        return parse(jql).where is None
    except QueryError:
        return False  # reported by the search itself


def _read_token(token: str | None) -> int:
    if not token:
        return 0
    try:
        return int(base64.urlsafe_b64decode(token).decode().removeprefix("start:"))
    except (ValueError, binascii.Error):
        raise Refusal(400, "The provided next page token is invalid or expired.") from None


@routes.post("/search/approximate-count", only="cloud")
def count(request: SiteRequest) -> Any:
    jql = request.object.get("jql") or ""
    if not jql.strip() or _is_unbounded(jql):
        raise Refusal(400, "Unbounded JQL queries are not allowed here. Please add a search restriction to your query.")
    return {"count": len(find(request, jql))}


@routes.get("/search", only="datacenter")
def search_by_index(request: SiteRequest) -> Any:
    options = _options(request)
    issues = find(request, options.get("jql") or "")
    start = int(options.get("startAt") or 0)
    size = 50 if options.get("maxResults") is None else min(int(options["maxResults"]), 1000)
    render = IssueJson(request).render
    fields = options.get("fields") or ["*navigable"]
    page = [render(issue, fields, _expand(options)) for issue in issues[start : start + size]]
    return {"expand": "schema,names", "startAt": start, "maxResults": size, "total": len(issues), "issues": page}


routes.post("/search", only="datacenter")(search_by_index)


@routes.post("/jql/parse", only="cloud")
def parse_queries(request: SiteRequest) -> Any:
    parsed: list[JsonObject] = []
    for jql in map(str, optional_list(request.object.get("queries"))):
        entry: JsonObject = {"query": jql}
        try:
            parse(jql)
            select(request.state, request.user, jql)
        except QueryError as error:
            entry["errors"] = [str(error)]
        parsed.append(entry)
    return {"queries": parsed}
