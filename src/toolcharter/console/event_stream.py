"""Server-sent events for a page that is open."""

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from starlette.responses import JSONResponse, Response, StreamingResponse

MAX_STREAM_SECONDS = 60.0
"""After which the browser connects again, so that a person who signed out, or lost a right, sees no more."""
_BEGIN = "retry: 1000\n\n"
_SIGN_OF_LIFE = ": \n\n"


def event(data: Any, number: int | None = None) -> str:
    """An event, with the id that the browser sends when it connects again."""
    identified = "" if number is None else f"id: {number}\n"
    return f"{identified}data: {json.dumps(data)}\n\n"


def too_many() -> Response:
    """The answer if no more pages can be open at the same time."""
    return JSONResponse({"error": "Too many pages with live calls or approvals are open. Close some."}, 503)


def event_stream(events: AsyncGenerator[str | None]) -> Response:
    """Send events until they end; None is a sign of life."""
    return StreamingResponse(_texts(events), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _texts(events: AsyncGenerator[str | None]) -> AsyncIterator[str]:
    end = time.monotonic() + MAX_STREAM_SECONDS
    async with aclosing(events):
        yield _BEGIN
        async for one in events:
            yield _SIGN_OF_LIFE if one is None else one
            if time.monotonic() >= end:
                return
