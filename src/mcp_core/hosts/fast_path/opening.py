"""Opens an app over stdio after its tools were listed: a client that starts a server waits for that list."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp_core.app import App
from mcp_core.errors import DeclarationError
from mcp_core.hosts.names import CANNOT_START, INTERNAL_ERROR
from mcp_core.hosts.protocol import RpcError
from mcp_core.process.start_errors import CannotStart

DELAY_SECONDS = 0.02
"""The time between the request for the list and the opening, so that the list is written first."""
MAX_DELAY_SECONDS = 1.0
"""After this time, the app is opened without any request, so that an error at its start is not hidden."""


def start_error(reason: str) -> RpcError:
    """The error for each request to a server that cannot start."""
    return RpcError(INTERNAL_ERROR, reason, {"reason": CANNOT_START})


def reason_of(program: str, error: BaseException) -> str:
    """The reason for people and clients. The stack of a fault in the server is for its log."""
    match error:
        case DeclarationError():
            return f"{program} cannot start, its tools are declared wrongly:\n{error}"
        case CannotStart():
            return f"{program} cannot start. {error}"
        case _:
            return f"{program} cannot start because of a fault in it: {type(error).__name__}. Its log has the stack."


class Opening:
    """When an app is opened: soon after its tools were listed, at once for a call, or after `MAX_DELAY_SECONDS`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = self._loop.create_future()
        """Done when the app is open."""
        self.begun, self.failed = asyncio.Event(), asyncio.Event()
        self.reason = ""
        """Why the app cannot be opened, once `failed` is set."""
        self._loop.call_later(MAX_DELAY_SECONDS, self.begun.set)

    def begin_soon(self) -> None:
        """Open the app, but let the answer that is being made be written first."""
        if not self.begun.is_set():
            self._loop.call_later(DELAY_SECONDS, self.begun.set)

    @property
    def is_done(self) -> bool:
        """Whether the app is open."""
        return self.opened.done() and not self.failed.is_set()

    async def wait(self) -> None:
        """Open the app now, and return when it is open. Raises RpcError if it cannot be opened."""
        self.begun.set()
        await asyncio.shield(self.opened)

    @property
    def failure(self) -> RpcError | None:
        """The answer to each request, if the app cannot be opened."""
        return start_error(self.reason) if self.failed.is_set() else None

    def fail(self, reason: str) -> None:
        """Answer what waits, and everything from now on, with a reason."""
        self.reason = reason
        self.failed.set()
        self.opened.set_exception(start_error(reason))
        self.opened.exception()  # nobody may be waiting


@asynccontextmanager
async def open_in_background(app: App) -> AsyncGenerator[Opening]:
    """Open an app in a task of its own, and close it at the end in the same task.

    An error on opening is raised at the end of the block; until then, each request is answered with it.
    """
    opening = Opening()
    closing = asyncio.Event()

    async def run() -> None:
        await opening.begun.wait()
        try:
            async with app:
                opening.opened.set_result(None)
                await closing.wait()
        except Exception as error:
            if not opening.opened.done():
                opening.fail(reason_of(app.name, error))
            raise

    task = asyncio.ensure_future(run())
    try:
        yield opening
    finally:
        closing.set()
        opening.begun.set()
        await task
