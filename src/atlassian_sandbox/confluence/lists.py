"""Lists with a cursor, as Confluence's API version 2 gives them."""

import base64
import binascii
from typing import Any
from urllib.parse import urlencode

from atlassian_sandbox.http import JsonObject, Refusal, Response, SiteRequest


def cursor_page(request: SiteRequest, values: list[Any], *, default: int = 25, maximum: int = 250) -> Response:
    """One page of the values. The address of the next one is in the body and in the Link header."""
    limit = request.number("limit", default)
    if not 1 <= limit <= maximum:
        raise Refusal(400, f"The limit must be between 1 and {maximum}.")
    start = _read(request.text("cursor"))
    links: JsonObject = {"base": f"{request.base}/wiki"}
    headers: dict[str, str] = {}
    if start + limit < len(values):
        query = {name: items for name, items in request.query.items() if name != "cursor"}
        cursor = base64.urlsafe_b64encode(f"from:{start + limit}".encode()).decode()
        address = f"{request.path}?{urlencode({**query, 'cursor': cursor}, doseq=True)}"
        links["next"] = address
        headers["link"] = f'<{address}>; rel="next"'
    return Response(200, {"results": values[start : start + limit], "_links": links}, headers=headers)


def _read(cursor: str | None) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.urlsafe_b64decode(cursor).decode().removeprefix("from:"))
    except (ValueError, binascii.Error):
        raise Refusal(400, "The provided cursor is invalid.") from None
