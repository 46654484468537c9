"""Answers that let a page of an allowed origin call a server from a browser (`--allow-origins`)."""

from typing import Any

from starlette.responses import Response

_METHODS = "POST, GET, DELETE"
_EXPOSED = b"Mcp-Session-Id, WWW-Authenticate"
_SECONDS = "600"


def preflight(scope: Any, origin: str) -> Response:
    """The answer to the question that a browser asks before a request: all headers of MCP are allowed."""
    asked = [value.decode("latin-1") for key, value in scope["headers"] if key == b"access-control-request-headers"]
    headers = {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": _METHODS,
        "Access-Control-Max-Age": _SECONDS,
        "Vary": "Origin",
    }
    return Response(
        status_code=204, headers=headers | ({"Access-Control-Allow-Headers": ", ".join(asked)} if asked else {})
    )


def with_headers(send: Any, origin: str) -> Any:
    """A `send` whose responses the page may read."""
    added = [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", _EXPOSED),
        (b"vary", b"Origin"),
    ]

    async def send_with_headers(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return send_with_headers
