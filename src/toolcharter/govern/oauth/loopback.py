"""Sign-in at this machine: the browser comes back to a port that only this machine reaches."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from mcp_core.auth.oauth.addresses import is_loopback
from mcp_core.auth.oauth.challenge import Challenge
from mcp_core.auth.oauth.errors import OAuthError
from mcp_core.auth.oauth.loopback import Completion, LoopbackReceiver, redirect_uri
from toolcharter.govern.oauth.attempts import ATTEMPT_SECONDS, SignIns
from toolcharter.govern.oauth.records import SignIn
from toolcharter.govern.upstream.errors import UpstreamUnavailable


async def sign_in_here(
    sign_ins: SignIns, owner: str, challenge: Challenge, show: Callable[[str], object], seconds: float = ATTEMPT_SECONDS
) -> SignIn:
    """Show the address to open, and wait until the person has signed in. Raises OAuthError or UpstreamUnavailable."""
    receiver = LoopbackReceiver[SignIn]("toolcharter", lambda redirect: _complete(sign_ins, redirect))
    async with await _listen(sign_ins, receiver) as server:
        attempt = await sign_ins.begin(owner, challenge, redirect_uri(server))
        receiver.state = attempt.state
        show(attempt.authorization)
        try:
            return await receiver.wait(seconds)
        except TimeoutError:
            raise OAuthError(f"was not signed in to within {seconds:g} seconds.") from None
        finally:
            sign_ins.store.claim_attempt(attempt.state)


async def _complete(sign_ins: SignIns, redirect: Mapping[str, str]) -> Completion[SignIn] | None:
    # The attempt is claimed: the same answer cannot be used again.
    if (attempt := sign_ins.store.claim_attempt(redirect["state"])) is None:
        return None
    try:
        sign_in = await sign_ins.finish(attempt, redirect)
    except (OAuthError, UpstreamUnavailable) as error:
        return Completion(error, f"The server {attempt.server!r} {error}", is_success=False)
    return Completion(sign_in, f"You are signed in to {attempt.server!r}. You can close this page.")


async def _listen(sign_ins: SignIns, receiver: LoopbackReceiver[SignIn]) -> asyncio.Server:
    """Listen on the port that the client is registered with, else on a free one."""
    fixed = sign_ins.table.redirect_port
    if fixed is not None:
        try:
            return await receiver.listen(fixed)
        except OSError:
            problem = f"The port {fixed} of redirect_port is in use. End the program that uses it, and try again."
            raise OAuthError(f"was not signed in to. {problem}") from None
    for client in sign_ins.store.clients(sign_ins.server):
        if client.redirect_uri is not None and is_loopback(client.redirect_uri):
            with suppress(OSError):
                return await receiver.listen(urlsplit(client.redirect_uri).port or 0)
    return await receiver.listen(0)
