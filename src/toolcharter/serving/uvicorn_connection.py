"""The members of uvicorn's protocol classes that this project uses: no other file names them.

They are not documented, so pyproject.toml bounds uvicorn to a minor version. tests/toolcharter/serving has a test that
the installed version has them.
"""

import asyncio
from typing import Any

OVERRIDDEN = ("shutdown", "send_400_response", "on_response_complete")
"""Methods of both classes that ours extend, beside those of asyncio and of the parsers."""


class UvicornConnection:
    """A mixin for uvicorn's protocol classes, on httptools and on h11."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    scheme: Any
    client: Any
    tasks: Any
    flow: Any
    cycle: Any
    server_state: Any
    app: Any
    write_paused = False
    """Whether so much is unsent that nothing more should be written."""

    @property
    def default_headers(self) -> Any:
        """The headers of every response: another list when the date has changed."""
        return self.server_state.default_headers

    @property
    def responding(self) -> bool:
        """Whether a request waits for its response, or for the rest of it."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def scope_in_progress(self) -> Any:
        """The scope of the request that waits for its response; None if there is none."""
        return self.cycle.scope if self.responding else None

    @property
    def response_started(self) -> bool:
        """Whether a part of the response to the last request was sent."""
        return self.cycle.response_started

    def disconnect_application(self) -> None:
        """Let the application that answers see that its client is gone."""
        self.cycle.disconnected = True
        self.cycle.message_event.set()

    def begin_response(self) -> Any:
        """Count a response that is sent without uvicorn, and return the headers of every response."""
        self.server_state.total_requests += 1
        return self.server_state.default_headers

    def pause_writing(self) -> None:
        """Too much is unsent."""
        self.write_paused = True
        super().pause_writing()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

    def resume_writing(self) -> None:
        """More can be written."""
        self.write_paused = False
        super().resume_writing()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

    async def drain(self) -> None:
        """Wait until more can be written."""
        await self.flow.drain()

    def pause_reading(self) -> None:
        """Leave what the client sends in the kernel."""
        self.flow.pause_reading()

    def resume_reading(self) -> None:
        """Undo `pause_reading`."""
        self.flow.resume_reading()

    def stop_keep_alive_timer(self) -> None:
        """Stop the timer of an idle connection: that of all connections replaces it."""
        self._unset_keepalive_if_required()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


class HttpToolsMembers(UvicornConnection):
    """Further members of the class on httptools."""

    parser: Any
    pipeline: Any
    headers: Any

    @property
    def is_lost(self) -> bool:
        """Whether the connection has ended."""
        return self.parser is None

    @property
    def pipelined(self) -> int:
        """The number of parsed requests that wait for the response to another."""
        return len(self.pipeline)

    @property
    def header_count(self) -> int:
        """The number of headers of the request that is parsed."""
        return len(self.headers or ())


class H11Members(UvicornConnection):
    """Further members of the class on h11."""

    conn: Any

    @property
    def client_state(self) -> Any:
        """The next event that h11 expects of the client."""
        return self.conn.their_state

    @property
    def has_unparsed_data(self) -> bool:
        """Whether the beginning of a request was received."""
        return bool(self.conn.trailing_data[0])
