"""The HTTP routes of an author, beside the MCP endpoint, with callers, permissions, a deadline and records."""

import asyncio
import inspect
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_core.app import App, OwnRoute
from mcp_core.auth import Caller
from mcp_core.hosts.callers import NotIdentified, http_caller, record_http
from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)


def routes_of(app: App) -> list[Route]:
    """The routes that an app has declared. Their handlers find the caller in `request.state.caller`."""
    return [Route(own.path, _guarded(app, own), methods=list(own.methods)) for own in app.routes]


def _guarded(app: App, own: OwnRoute) -> Any:
    async def answer(request: Request) -> Response:
        try:
            caller = await http_caller(app, request.scope, request.headers.get("authorization", ""))
        except NotIdentified as refused:  # it has been recorded
            headers = {name.decode(): value.decode() for name, value in refused.headers}
            return Response(refused.body, refused.status, headers)
        response = await _answer(own, request, caller)
        record_http(app, request.scope, response.status_code, caller)
        return response

    return answer


async def _answer(own: OwnRoute, request: Request, caller: Caller) -> Response:
    if missing := caller.lacks(own.permissions):
        return JSONResponse({"error": f"{own.path} needs the permission {', '.join(missing)}."}, HTTPStatus.FORBIDDEN)
    request.state.caller = caller
    try:
        async with asyncio.timeout(own.seconds):
            found = own.handler(request)
            response: Any = await found if inspect.isawaitable(found) else found
    except TimeoutError:
        return JSONResponse({"error": f"{own.path} took longer than {own.seconds:g} s."}, HTTPStatus.GATEWAY_TIMEOUT)
    except Exception:
        logger.exception("The route %s failed", own.path)
        return JSONResponse({"error": "Internal server error"}, HTTPStatus.INTERNAL_SERVER_ERROR)
    return response if isinstance(response, Response) else JSONResponse(response)
