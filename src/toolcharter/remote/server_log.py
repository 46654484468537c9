"""The log of a server that a command has started: what the server writes to stderr."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from mcp_core.foreign.terminal import escape_invisible, print_text

MAX_BYTES, MAX_LINES = 64 * 1024, 40
"""How much is printed at once. Of a longer log, this is the end."""
FOLLOW_SECONDS = 0.1


class ServerLog:
    """A log file that the server writes, and that is printed so that it cannot control the terminal."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self._printed = 0

    def skip(self) -> None:
        """Do not print what is there now."""
        self._printed = self._size()

    async def follow(self) -> None:
        """Print each line soon after the server has written it, without an end."""
        while True:
            await asyncio.sleep(FOLLOW_SECONDS)
            self.print_new(whole_lines=True)

    def print_new(self, *, whole_lines: bool = False) -> None:
        """Print what was not printed yet. With `whole_lines`, the start of a line waits for its end."""
        if lines := self.take_new(whole_lines=whole_lines):
            print_text("\n".join(lines), file=sys.stderr, flush=True)

    def take_new(self, *, whole_lines: bool = False) -> list[str]:
        """The same lines, for another place."""
        start = max(self._printed, self._size() - MAX_BYTES)
        # The server writes where the position of the file is, so reading must not move it.
        text = os.pread(self.file.fileno(), MAX_BYTES, start)
        if whole_lines and len(text) < MAX_BYTES:
            text = text[: text.rfind(b"\n") + 1]
        lines = text.decode("utf-8", "replace").splitlines()[-MAX_LINES:]
        if lines:
            self._printed = start + len(text)
        return [escape_invisible(line) for line in lines]

    def _size(self) -> int:
        return os.fstat(self.file.fileno()).st_size


@contextmanager
def open_log() -> Generator[ServerLog]:
    """Open an empty log, which is removed at the end."""
    with tempfile.TemporaryFile("w+") as file:
        yield ServerLog(file)
