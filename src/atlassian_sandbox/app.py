"""The sandbox as an ASGI application: a Jira and a Confluence in memory, of the Cloud or the Data Center kind."""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, unquote

from atlassian_sandbox import agile, checks, servicedesk
from atlassian_sandbox.company import build_company
from atlassian_sandbox.confluence import ROUTES as CONFLUENCE_ROUTES
from atlassian_sandbox.errors import error_response
from atlassian_sandbox.faults import ConnectionDropped, ConnectionRefused, Fault, Faults
from atlassian_sandbox.http import Api, Kind, Refusal, Response, Route, Router, SiteRequest
from atlassian_sandbox.jira import ROUTES as JIRA_ROUTES
from atlassian_sandbox.login import authenticate
from atlassian_sandbox.model import SiteUser
from atlassian_sandbox.oauth import Issuer
from atlassian_sandbox.state import Clock, SiteState, system_clock

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
CHUNK = 65536
LARGE = 1_000_000


@dataclass(frozen=True)
class SentRequest:
    """A request that reached the sandbox. Tests can look at the last hundred; large contents are not kept."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    content: bytes


class Sandbox:
    def __init__(self, kind: Kind, state: SiteState, faults: Faults) -> None:
        self.kind: Kind = kind
        self.state = state
        self.faults = faults
        self.requests: deque[SentRequest] = deque(maxlen=100)
        self.issuer = Issuer(state)
        self.router = Router(routes(kind))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        sent = SentRequest(
            scope["method"],
            scope.get("raw_path", scope["path"].encode()).decode("ascii", "replace"),
            parse_qs(scope["query_string"].decode(), keep_blank_values=True),
            {name.decode().lower(): value.decode("latin-1") for name, value in scope["headers"]},
            await _read(receive),
        )
        self.requests.append(sent if len(sent.content) < LARGE else replace(sent, content=b""))
        base = f"{scope.get('scheme', 'http')}://{sent.headers.get('host', 'sandbox.example')}"
        response = await self._respond(sent, base)
        await _send(response, send)

    async def _respond(self, sent: SentRequest, base: str) -> Response:
        faults = self.faults.take(sent.method, sent.path)
        for fault in faults:
            if fault.action == "delay":
                await asyncio.sleep(fault.seconds)
        failure = next((fault for fault in faults if fault.action != "delay"), None)
        if failure is None:
            return self.handle(sent, base)
        if failure.action == "status":
            return _failure(sent.path, failure)
        if failure.action == "refuse":
            raise ConnectionRefused("the sandbox refused the connection")
        if failure.after:
            self.handle(sent, base)
        raise ConnectionDropped("the sandbox closed the connection")

    def handle(self, sent: SentRequest, base: str) -> Response:
        path, cloud_id = _behind_gateway(sent.path.rstrip("/") or "/")
        authorization = sent.headers.get("authorization", "")
        issued = self.issuer.respond(sent.method, path, sent.query, sent.content, authorization)
        if issued is not None:
            return issued
        api = api_of(path)
        try:
            found = self.router.find(sent.method, path)
            if found is None:
                raise Refusal(404, f"No resource has the path {path}.")
            route, parameters = found
            api = route.api
            user = self._user(sent.method, path, authorization, cloud_id)
            request = SiteRequest(
                kind=self.kind,
                api=api,
                method=sent.method,
                path=unquote(path),
                query=sent.query,
                headers=sent.headers,
                content=sent.content,
                base=base,
                parameters=parameters,
                state=self.state,
                user=user,
            )
            checks.check(request, route.method, route.path)
            result = route.handler(request)
        except Refusal as refusal:
            return error_response(api, refusal)
        return result if isinstance(result, Response) else Response(200, result)

    def _user(self, method: str, path: str, authorization: str, cloud_id: str | None) -> SiteUser:
        """Who sends a request. Only the gateway takes access tokens of OAuth, and only for this site."""
        if path.startswith("/media/"):
            authorization = ""  # the address of a download is enough
        if cloud_id not in (None, self.state.cloud_id):
            raise Refusal(404, f"No site has the cloud id '{cloud_id}'.")
        if cloud_id is not None or self.kind == "datacenter":
            user = self.issuer.user(authorization, method, path)
            if user is not None:
                return user
        return authenticate(self.state, authorization, behind_gateway=cloud_id is not None)


def _behind_gateway(path: str) -> tuple[str, str | None]:
    """The path on the site and the cloud id, for a path such as /ex/jira/{cloud id}/rest/api/3/myself."""
    match = re.fullmatch(r"/ex/(?:jira|confluence)/([^/]+)(/.*)", path)
    return (match[2], match[1]) if match else (path, None)


def routes(kind: Kind) -> Iterable[Route]:
    for module_routes in (*JIRA_ROUTES, agile.routes, agile.software, servicedesk.routes, *CONFLUENCE_ROUTES):
        yield from module_routes.of(kind)


def sandbox_app(kind: Kind = "cloud", *, clock: Clock = system_clock, faults: Faults | None = None) -> Sandbox:
    """A new sandbox with the data of the demo company. A request without credentials is from its first user."""
    return Sandbox(kind, build_company(kind, clock), faults or Faults())


def api_of(path: str) -> Api:
    if path.startswith("/wiki/api/v2"):
        return "v2"
    if path.startswith(("/wiki", "/confluence")):
        return "v1"
    return "service" if path.startswith("/rest/servicedeskapi") else "jira"


def _failure(path: str, fault: Fault) -> Response:
    response = error_response(api_of(path), Refusal(fault.status, fault.message))
    headers = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
    return Response(response.status, response.json, headers=headers)


async def _read(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def _send(response: Response, send: Send) -> None:
    body = response.body()
    headers = {"content-length": str(len(body)), "x-arequestid": "sandbox", **response.headers}
    if response.json is not None:
        headers.setdefault("content-type", "application/json;charset=UTF-8")
    raw = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": response.status, "headers": raw})
    for start in range(0, max(len(body), 1), CHUNK):
        more = start + CHUNK < len(body)
        await send({"type": "http.response.body", "body": body[start : start + CHUNK], "more_body": more})
