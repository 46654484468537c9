"""Bearer tokens in a file, which takes effect when it changes."""

import math
import os
import time
from collections.abc import Callable
from pathlib import Path

from mcp_core.auth.caller import Caller, digest
from mcp_core.auth.permissions import Permissions, Principal, ScopesAsPermissions
from mcp_core.auth.token_list import read_tokens
from mcp_core.mcp_log import get_logger
from mcp_core.process.start_errors import InvalidSetting

logger = get_logger(__name__)

_LOOK_SECONDS = 1.0
"""How often the file is looked at: this long after a revocation, a token is no longer accepted."""


class TokenFile:
    """The tokens that a file has now. A file that becomes unreadable changes nothing."""

    def __init__(
        self,
        path: Path,
        permissions: Permissions | None = None,
        *,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path, self._permissions = path, permissions or ScopesAsPermissions()
        self._clock, self._timer = clock, timer
        self._callers: dict[bytes, tuple[Caller, float]] = {}
        self._version = _version(path)
        self._read()
        self._next_look = timer() + _LOOK_SECONDS

    async def verify(self, token: str) -> Caller | None:
        """The caller of a token that is in the file and has not expired."""
        return self.find(token)

    def find(self, token: str) -> Caller | None:
        """The same, at once."""
        if self._timer() >= self._next_look:
            self._look()
        caller, expires = self._callers.get(digest(token), (None, 0.0))
        return caller if expires > self._clock() else None

    def reload(self) -> None:
        """Read the file again."""
        try:
            self._read()
        except InvalidSetting as error:
            logger.error("The tokens were not changed. %s", error)
        else:
            logger.info("The tokens were read again from %s", self._path)

    def _look(self) -> None:
        self._next_look = self._timer() + _LOOK_SECONDS
        version = _version(self._path)
        if version != self._version:
            self._version = version
            self.reload()

    def _read(self) -> None:
        tokens = read_tokens(self._path)
        if tokens.is_plain:
            logger.warning(
                "%s has tokens that anyone who reads it can use. `toolcharter token create` or `revoke` on this file "
                "replaces them with their digests; the tokens remain valid",
                self._path,
            )
        self._callers = {
            bytes.fromhex(entry.sha256): (
                self._permissions.caller(Principal(entry.user, frozenset(entry.grants))),
                entry.expires.timestamp() if entry.expires else math.inf,
            )
            for entry in tokens.entries
        }


def _version(path: Path) -> tuple[int, ...] | None:
    """A version that changes whenever the file is written; None if it does not exist."""
    try:
        status = os.stat(path)  # noqa: PTH116 - twice as fast as Path.stat, on the way of a call
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
