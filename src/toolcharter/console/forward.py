"""Calls from the browser: the request goes on to the MCP endpoint of a server, with the token of the viewer.

The endpoint never reads cookies. Who may call is decided by it, as for every other client.
"""

from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse, Response

from toolcharter.console.page import ConsolePage, View

_NOT_PASSED_ON = frozenset({b"authorization", b"cookie", b"origin", b"referer", b"x-csrf-token"})


async def _forward(view: View) -> Response:
    app = view.viewer.app(view.part("server"))
    if app is None:
        return JSONResponse({"error": "This server does not exist."}, HTTPStatus.NOT_FOUND)
    return _Forwarded(view, f"/{app.name}/mcp")


class _Forwarded(Response):
    """The response of the MCP endpoint, as it comes."""

    def __init__(self, view: View, path: str) -> None:
        super().__init__()
        self._site, self._path, self._token = view.console.site, path, view.viewer.token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [(name, value) for name, value in scope["headers"] if name not in _NOT_PASSED_ON]
        if self._token:
            headers.append((b"authorization", f"Bearer {self._token}".encode("latin-1")))
        path = {"path": self._path, "raw_path": self._path.encode(), "query_string": b"", "root_path": ""}
        request = {"type": "http", **{key: scope[key] for key in _KEPT if key in scope}, **path, "headers": headers}
        await self._site(request, receive, send)


_KEPT = ("asgi", "http_version", "method", "scheme", "client", "server", "state", "extensions")

PAGES = [ConsolePage("/console/call/{server}", _forward, changes=True)]
