"""Requests to clients of a protocol with a handshake: to confirm a call, and to list their folders."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from mcp_core.errors import ConsentRequired
from mcp_core.hosts.fast_path.shapes import is_elicit_result, is_roots
from mcp_core.hosts.names import CONFIRM_SCHEMA
from mcp_core.hosts.protocol import is_accepted, local_folders
from mcp_core.text.json_text import JsonObject

SendRequest = Callable[[str, JsonObject], Awaitable[Any]]
"""Sends a request to the client and waits for the result of its response. Raises ClientError."""


class ClientError(Exception):
    """The client answered a request of the server's with an error."""


async def confirm(request: SendRequest, question: str) -> bool:
    """Ask the person and wait for the answer."""
    params = {"mode": "form", "message": question, "requestedSchema": CONFIRM_SCHEMA}
    try:
        return is_accepted(await request("elicitation/create", params))
    except ClientError:
        raise ConsentRequired("The client could not ask the user. Nothing was done.") from None


async def elicit(request: SendRequest, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Ask the person what a handler wants to know, and wait for the answer."""
    sent = {**params, "elicitationId": params.get("elicitationId") or secrets.token_urlsafe(12)}
    try:
        result = await request("elicitation/create", sent if params.get("mode") == "url" else dict(params))
    except ClientError:
        result = None
    if not is_elicit_result(result):
        raise ConsentRequired("The client could not ask the user.")
    return cast(JsonObject, result)


async def list_folders(request: SendRequest) -> tuple[str, ...]:
    """The folders of this machine that the client works in."""
    try:
        result = await request("roots/list", {})
    except ClientError:
        result = None
    roots: Any = cast(JsonObject, result).get("roots") if isinstance(result, dict) else None
    valid = cast(list[JsonObject], roots) if is_roots(roots) else []
    return local_folders(root.get("uri") or "" for root in valid)
