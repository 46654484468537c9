"""The credentials for requests to an upstream over HTTP."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Protocol

from mcp_core.auth.oauth.challenge import Challenge, read_challenge
from mcp_core.auth.oauth.errors import GrantRejected, OAuthError
from mcp_core.auth.oauth.renewal import SharedRenewal
from mcp_core.errors import PermissionDenied, SignInRequired, Unavailable
from toolcharter.govern.oauth.attempts import SignIns
from toolcharter.govern.oauth.owners import SHARED, login_command
from toolcharter.govern.oauth.records import SignIn
from toolcharter.govern.upstream.errors import UpstreamUnavailable

MARGIN = 30.0
"""Seconds before its end at which a token is renewed."""
_NO_CHALLENGE = Challenge()

Invite = Callable[[SignIns, str, Challenge], Awaitable[str | None]]
"""Begins a sign-in of an owner, and gives the address that the person opens; None where only a command helps.

Raises OAuthError or UpstreamUnavailable.
"""


class RequestSigner(Protocol):
    """Signs the requests of one connection."""

    async def headers(self) -> Mapping[str, str]:
        """The headers of the next request. Raises ToolError where there can be none."""
        ...

    async def refused(self, status: int, challenges: Sequence[str], sent: Mapping[str, str], *, again: bool) -> bool:
        """Whether the request can be sent again, after it was refused. `again` says that it was sent again already.

        Raises ToolError where somebody must do something first.
        """
        ...


class PassedToken:
    """The token with which the caller came to the governor, for an upstream that the charter names for it."""

    def __init__(self) -> None:
        self.authorization: str | None = None
        """Of the last call. All calls of a connection have the same caller."""

    async def headers(self) -> Mapping[str, str]:
        return {} if self.authorization is None else {"Authorization": self.authorization}

    async def refused(
        self,
        status: int,
        challenges: Sequence[str],  # noqa: ARG002 - of the protocol
        sent: Mapping[str, str],
        *,
        again: bool,  # noqa: ARG002 - the same
    ) -> bool:
        if status != HTTPStatus.UNAUTHORIZED:
            return False
        raise PermissionDenied(
            "The server does not accept the token that you have for the governor (pass_token)."
            if sent
            else "The server takes the token that you have for the governor (pass_token), and you have none."
        )


class OwnerTokens:
    """The tokens of one owner. Calls that need a new one at the same time share one renewal."""

    def __init__(self, sign_ins: SignIns, owner: str, invite: Invite | None) -> None:
        self._sign_ins, self._owner, self._invite = sign_ins, owner, invite
        self._is_own = sign_ins.table.grant == "client_credentials"
        self._sign_in: SignIn | None = None
        self._version: int | None = None
        self._renewal = SharedRenewal[SignIn]()

    async def headers(self) -> Mapping[str, str]:
        """The access token. Without one, the server says what it needs."""
        sign_in = await self._current()
        return {} if sign_in is None else {"Authorization": f"Bearer {sign_in.access_token}"}

    async def refused(self, status: int, challenges: Sequence[str], sent: Mapping[str, str], *, again: bool) -> bool:
        challenge = read_challenge(challenges)
        if status == HTTPStatus.FORBIDDEN:
            if not challenge.is_insufficient_scope:
                return False
            await self._need_scopes(challenge)
        if status == HTTPStatus.UNAUTHORIZED and not again and await self._has_another(challenge, sent):
            return True
        raise await self._must_sign_in(challenge)

    async def _current(self) -> SignIn | None:
        """The sign-in with a token that is valid for some time yet; None where there is none."""
        if not self._is_own:
            await self._read()
        sign_in = self._sign_in
        if sign_in is None or not _ends_within(MARGIN, sign_in):
            return sign_in
        try:
            return await self._renew(_NO_CHALLENGE)
        except Unavailable:
            if _ends_within(0, sign_in):
                raise
            return sign_in

    async def _read(self, *, always: bool = False) -> None:
        """Read the sign-in again, if another process or a command has changed it, or always."""
        store, server = self._sign_ins.store, self._sign_ins.server
        version = store.version(server, self._owner)
        if version == self._version and not always:
            return
        is_there = version is not None or always
        found = await asyncio.to_thread(store.load, server, self._owner) if is_there else None
        usable = found is not None and found.address == self._sign_ins.address and not found.is_over
        self._sign_in, self._version = found if usable else None, version

    async def _has_another(self, challenge: Challenge, sent: Mapping[str, str]) -> bool:
        """Whether there is another token than the one that was refused."""
        sign_in = self._sign_in
        if sign_in is not None and sent.get("Authorization") != f"Bearer {sign_in.access_token}":
            return True
        if not self._is_own and (sign_in is None or sign_in.refresh_token is None):
            return False
        return await self._renew(challenge) is not None

    async def _renew(self, challenge: Challenge) -> SignIn | None:
        store, server = self._sign_ins.store, self._sign_ins.server
        lock = None if self._is_own else store.renewal_lock(server, self._owner)
        try:
            return await self._renewal.run(lambda: self._get_tokens(challenge), lock)
        except GrantRejected as error:
            if self._is_own:
                raise Unavailable(f"The server {server!r} {error}") from None
            return None
        except (OAuthError, UpstreamUnavailable) as error:
            raise Unavailable(f"The server {server!r} {error}") from None

    async def _get_tokens(self, challenge: Challenge) -> SignIn:
        if self._is_own:
            self._sign_in = await self._sign_ins.own_sign_in(SHARED, challenge)
            return self._sign_in
        old = self._sign_in
        # A network file system may show late that the file has changed, and a refresh token is valid once.
        await self._read(always=True)
        # Another process may have renewed it meanwhile, or a command ended it.
        if self._sign_in is None or self._sign_in.refresh_token is None:
            self._sign_in = None
            raise GrantRejected("is no longer signed in to.")
        if self._sign_in != old and not _ends_within(MARGIN, self._sign_in):
            return self._sign_in
        try:
            self._sign_in = await self._sign_ins.renew(self._sign_in)
        except GrantRejected:
            self._sign_in = None
            raise
        self._version = self._sign_ins.store.version(self._sign_ins.server, self._owner)
        return self._sign_in

    async def _need_scopes(self, challenge: Challenge) -> None:
        """Signing in again helps only if something is requested that was not requested before."""
        sign_in, table, needed = self._sign_in, self._sign_ins.table, set(challenge.scopes)
        problem = f"The server {self._sign_ins.server!r} needs more scopes for this call, and"
        names = " ".join(challenge.scopes)[:200] or "it does not say which"
        if table.scopes and not needed <= set(table.scopes):
            raise PermissionDenied(f"{problem} the charter requests fewer. Needed: {names}.")
        if self._is_own or (sign_in is not None and needed <= set(sign_in.requested)):
            raise PermissionDenied(f"{problem} its authorization server did not grant them. Needed: {names}.")

    async def _must_sign_in(self, challenge: Challenge) -> Exception:
        server = self._sign_ins.server
        if self._is_own:
            return Unavailable(f"The server {server!r} does not accept the token of its client in the charter.")
        command, address = login_command(server, self._owner), None
        if self._invite is not None:
            try:
                address = await self._invite(self._sign_ins, self._owner, challenge)
            except (OAuthError, UpstreamUnavailable) as error:
                return Unavailable(f"The server {server!r} {error}")
        return sign_in_required(server, command, address)


def sign_in_required(server: str, command: str, address: str | None) -> SignInRequired:
    """The error for a caller who must sign in."""
    if address is None:
        return SignInRequired(f"Sign in to {server!r} first, with the command `{command}`. Then call the tool again.")
    return SignInRequired(
        f"Sign in to {server!r} first: open {address} in a browser. Then call the tool again.", address=address
    )


def _ends_within(seconds: float, sign_in: SignIn) -> bool:
    return sign_in.expires is not None and sign_in.expires - time.time() < seconds
