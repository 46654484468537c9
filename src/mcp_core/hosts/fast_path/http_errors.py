"""The errors that the fast path answers over HTTP itself."""

from mcp_core.hosts.fast_path.asgi import HttpResponse
from mcp_core.hosts.fast_path.jsonrpc import decode, error_message, parse_request
from mcp_core.hosts.names import INTERNAL_ERROR, REQUEST_CANCELLED
from mcp_core.hosts.protocol import RpcError


def error_response(status: int, code: int, message: str) -> HttpResponse:
    """An error that belongs to no request."""
    return HttpResponse(status, error_message(None, RpcError(code, message)))


def cancelled(request_id: str | int) -> HttpResponse:
    """The response to a cancelled request. The older protocol's HTTP needs one; the SDK words it so."""
    return HttpResponse(200, error_message(request_id, RpcError(REQUEST_CANCELLED, "Request cancelled")))


def sdk_unavailable(body: bytes | None) -> HttpResponse:
    """The response to a request that only the SDK could answer, if it cannot be loaded."""
    message = "The server could not load what this request needs; its log has the reason. Try again later."
    return HttpResponse(500, error_message(_request_id(body), RpcError(INTERNAL_ERROR, message)))


def sessions_unavailable(body: bytes | None) -> HttpResponse:
    """The same for a request that has not been read."""
    return sessions_unavailable_for(_request_id(body))


def sessions_unavailable_for(request_id: str | int | None) -> HttpResponse:
    """The response in a session that needs the shared store, while that cannot be reached."""
    message = "The server cannot reach what its processes share, which sessions need. Try again."
    error = RpcError(INTERNAL_ERROR, message, {"reason": "unavailable", "retryable": True})
    return HttpResponse(503, error_message(request_id, error)).with_header(b"retry-after", b"1")


def _request_id(body: bytes | None) -> str | int | None:
    try:
        request = None if body is None else parse_request(decode(body))
    except ValueError:
        return None
    return request.id if request else None
