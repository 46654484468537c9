"""A site that repeats what the sandbox answered, so that the sandbox's own time is not measured."""

import asyncio
from typing import Any

from atlassian_sandbox import sandbox_app


class RecordedSite:
    """An ASGI application: the first request of a kind goes to the sandbox, and all others get the same answer."""

    def __init__(self, delay: float = 0.0) -> None:
        self.requests = 0
        self.delay = delay
        self._sandbox = sandbox_app("cloud")
        self._answers: dict[Any, list[Any]] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.requests += 1
        body = b""
        while (message := await receive()).get("more_body"):
            body += message["body"]
        body += message.get("body", b"")
        key = scope["method"], scope["path"], scope["query_string"], body
        if key not in self._answers:
            self._answers[key] = await self._record(scope, body)
        if self.delay:
            await asyncio.sleep(self.delay)
        for answer in self._answers[key]:
            await send(answer)

    async def _record(self, scope: Any, body: bytes) -> list[Any]:
        answers: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            answers.append(message)

        await self._sandbox(scope, receive, send)
        return answers
