"""Sign-ins that a call begins at this machine: the caller gets the address, and a port waits for the browser."""

import asyncio
from contextlib import suppress
from typing import NamedTuple

from mcp_core.auth.oauth.challenge import Challenge
from mcp_core.auth.oauth.errors import OAuthError
from toolcharter.govern.oauth.attempts import SignIns
from toolcharter.govern.oauth.loopback import sign_in_here
from toolcharter.govern.upstream.errors import UpstreamUnavailable


class _Waiting(NamedTuple):
    challenge: Challenge
    address: asyncio.Future[str]
    task: asyncio.Task[None]


class LocalInvitations:
    """Waits for one sign-in at each server."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str], _Waiting] = {}

    async def invite(self, sign_ins: SignIns, owner: str, challenge: Challenge) -> str | None:
        """The address to open. Calls that need the same sign-in get the same one."""
        key = sign_ins.server, owner
        waiting = self._waiting.get(key)
        if waiting is None or waiting.task.done() or set(challenge.scopes) > set(waiting.challenge.scopes):
            if waiting is not None:
                await _end(waiting.task)
            address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            task = asyncio.create_task(_wait(sign_ins, owner, challenge, address))
            waiting = self._waiting[key] = _Waiting(challenge, address, task)
        return await asyncio.shield(waiting.address)

    async def close(self) -> None:
        """Wait for nobody any more."""
        for waiting in self._waiting.values():
            await _end(waiting.task)
        self._waiting.clear()


async def _wait(sign_ins: SignIns, owner: str, challenge: Challenge, address: "asyncio.Future[str]") -> None:
    try:
        await sign_in_here(sign_ins, owner, challenge, address.set_result)
    except (OAuthError, UpstreamUnavailable) as error:
        # Whoever waits for the address gets the error. Later, the browser has shown it, and the next call begins anew.
        if not address.done():
            address.set_exception(error)
    finally:
        address.cancel()


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
