"""The Atlassian server with a sandbox whose requests can be seen, for tests."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from atlassian_sandbox import Faults, Sandbox, sandbox_app
from atlassian_sandbox.http import Kind
from mcp_atl.app import build
from mcp_atl.settings import AtlSettings
from toolcharter import App


class Server:
    """Calls commands, and gives their values."""

    def __init__(self, app: App, sandbox: Sandbox) -> None:
        self.app, self.sandbox = app, sandbox

    async def call(self, command: str, subject: str | None = None, **arguments: Any) -> dict[str, Any]:
        """The whole answer. `product` and `response_fields` are themselves; all else is `parameters`."""
        named = {key: arguments.pop(key) for key in ("product", "response_fields") if key in arguments}
        sent = {"subject": subject} if subject is not None else {}
        answer = await self.app.call(f"atl_{command}", sent | named | ({"parameters": arguments} if arguments else {}))
        return json.loads(answer.text)  # pyright: ignore[reportAttributeAccessIssue]

    async def ok(self, command: str, subject: str | None = None, **arguments: Any) -> Any:
        """The value of a call that must succeed."""
        answer = await self.call(command, subject, **arguments)
        assert answer["success"], answer
        return answer["value"]

    async def refused(self, error_type: str, command: str, subject: str | None = None, **arguments: Any) -> str:
        """The error of a call that must fail with this type."""
        answer = await self.call(command, subject, **arguments)
        assert not answer["success"], answer
        assert answer["error_type"] == error_type, answer
        return answer["error"]


@asynccontextmanager
async def serve(kind: Kind = "cloud", **settings: Any) -> AsyncGenerator[Server]:
    """A server of its own sandbox."""
    sandbox = sandbox_app(kind, faults=Faults())
    async with build(AtlSettings(sandbox=True, sandbox_kind=kind, **settings), sandbox) as app:
        yield Server(app, sandbox)
