"""JSON-RPC messages as the fast path reads and writes them."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from pydantic_core import from_json

from mcp_core.hosts.protocol import RpcError
from mcp_core.text import json_text
from mcp_core.text.json_text import JsonObject

ID_TYPES = (str, int)
PARAMS_TYPES = (dict, type(None))


class RpcRequest(NamedTuple):
    """A well-formed request."""

    id: str | int
    method: str
    params: JsonObject


decode: Callable[[bytes], Any] = from_json
"""Reads a JSON text as the SDK does. Raises ValueError."""


def has_nul(body: bytes) -> bool:
    """Whether a body has a byte that JSON in UTF-8 never has. The SDK takes UTF-16 too, which others read otherwise."""
    return b"\0" in body


def parse_request(message: Any) -> RpcRequest | None:
    """The request that a decoded message is; None where it is not a well-formed request."""
    fields: Any = message
    if type(message) is not dict or fields.get("jsonrpc") != "2.0":
        return None
    method, request_id, params = fields.get("method"), fields.get("id"), fields.get("params")
    if type(method) is not str or type(request_id) not in ID_TYPES or type(params) not in PARAMS_TYPES:
        return None
    return RpcRequest(request_id, method, params or {})


def is_json_rpc(message: Any) -> bool:
    """Whether a decoded text is one JSON-RPC 2.0 object. What kind of message it is, is not checked."""
    return isinstance(message, dict) and message.get("jsonrpc") == "2.0"  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def is_message(message: Any) -> bool:
    """Whether a decoded text is a request, a notification or a response."""
    if not is_json_rpc(message):
        return False
    fields = cast(JsonObject, message)
    if type(fields.get("method")) is str and isinstance(fields.get("params"), dict | None):
        return True
    if type(fields.get("id")) in (str, int) and isinstance(fields.get("result"), dict):
        return True
    return "id" in fields and type(fields["id"]) in (str, int, type(None)) and _is_error(fields.get("error"))


def _is_error(error: Any) -> bool:
    return isinstance(error, dict) and type(error.get("code")) is int and type(error.get("message")) is str  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def result_message(request_id: str | int, result: str) -> bytes:
    """A response with a result that is JSON already."""
    number = request_id if type(request_id) is int else json.dumps(request_id)
    return f'{{"jsonrpc":"2.0","id":{number},"result":{result}}}'.encode("utf-8", "replace")


def error_message(request_id: str | int | None, error: RpcError) -> bytes:
    """A response with an error."""
    return f'{{"jsonrpc":"2.0","id":{json.dumps(request_id)},"error":{error.to_text()}}}'.encode("utf-8", "replace")


def request_message(request_id: str, method: str, params: JsonObject) -> bytes:
    """A request from the server to the client."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return json_text.to_text(message).encode()


# --- progress ----------------------------------------------------------------------------------------------


def progress_token(params: JsonObject) -> str | int | None:
    """The token under which the client wants progress notifications."""
    meta: JsonObject | None = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if type(token) in ID_TYPES else None


def progress_message(token: str | int, done: float, total: float | None, message: str | None) -> bytes:
    """A progress notification."""
    params: JsonObject = {"progressToken": token, "progress": done}
    if total is not None:
        params["total"] = total
    if message is not None:
        params["message"] = message
    notification = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    return json_text.to_text(notification).encode()
