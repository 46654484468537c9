"""The way to a sandbox in the same process, for httpx2."""

import httpx2

from atlassian_sandbox.app import Sandbox
from atlassian_sandbox.faults import ConnectionDropped, ConnectionRefused


class SandboxTransport(httpx2.AsyncBaseTransport):
    """Sends requests to a sandbox without a network. A connection that the sandbox drops is an error of httpx2."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._transport = httpx2.ASGITransport(sandbox)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._transport.handle_async_request(request)
        except ConnectionRefused as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        except ConnectionDropped as error:
            raise httpx2.ReadError(str(error), request=request) from error
