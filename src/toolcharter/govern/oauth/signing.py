"""Which credentials the calls of a caller get at an upstream."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from weakref import WeakValueDictionary

from mcp_core.auth.caller import LOCAL
from mcp_core.context import ToolContext
from mcp_core.errors import SignInRequired
from toolcharter.govern.charter import UpstreamTable
from toolcharter.govern.oauth.attempts import SignIns
from toolcharter.govern.oauth.credentials import Invite, OwnerTokens, PassedToken, RequestSigner
from toolcharter.govern.oauth.owners import SHARED, owner_of
from toolcharter.govern.oauth.store import SignInStore

WAIT_SECONDS = 120.0
"""How long a call waits for a person who has opened the address. Clients do not wait much longer."""
_CHECK_SECONDS = 0.1
TOKEN_VARIABLE = "TOOLCHARTER_TOKEN"  # noqa: S105 - the name of a variable
"""The token that is passed on for the person at this machine, who has none in a request."""


class Signing(Protocol):
    """Gives each caller the credentials of their owner, and never of another."""

    @property
    def has_owners(self) -> bool:
        """Whether callers have different credentials, so that the server may show them different tools."""
        ...

    def owner(self, caller: str) -> str:
        """The owner of the credentials for a caller; an owner is their own. Raises PermissionDenied."""
        ...

    def credentials(self, owner: str) -> RequestSigner:
        """The credentials for one connection."""
        ...

    def take(self, caller: str, headers: Mapping[str, str]) -> object:
        """Take what came with a request of a caller. Keep the result until the request is answered."""
        ...


class SignedIn:
    """Sign-ins with OAuth."""

    def __init__(self, sign_ins: SignIns) -> None:
        self.sign_ins = sign_ins
        self.invite: Invite | None = None
        """How the caller is asked to sign in; None where nobody can be."""

    @property
    def has_owners(self) -> bool:
        table = self.sign_ins.table
        return table.tokens == "caller" and table.grant != "client_credentials"

    def owner(self, caller: str) -> str:
        return owner_of(caller, self.sign_ins.server) if self.has_owners else SHARED

    def credentials(self, owner: str) -> RequestSigner:
        return OwnerTokens(self.sign_ins, owner, self.invite)

    def take(self, caller: str, headers: Mapping[str, str]) -> object:
        """Nothing of a request is used."""

    async def ask(self, context: ToolContext, error: SignInRequired) -> bool:
        """Ask the person behind a call to sign in, and wait. False where the client cannot, or they are too slow."""
        if error.address is None or "url" not in context.modes:
            return False
        server, store, owner = self.sign_ins.server, self.sign_ins.store, self.owner(context.caller_key)
        before = store.version(server, owner)

        async def finished() -> None:
            # The browser may come back to another process.
            with suppress(TimeoutError):
                async with asyncio.timeout(WAIT_SECONDS):
                    while store.version(server, owner) == before:  # noqa: ASYNC110 - a file has no event
                        await asyncio.sleep(_CHECK_SECONDS)

        answer = await context.ask_url(f"Sign in to {server}, which this call uses.", error.address, finished)
        if not answer.is_accepted:
            raise SignInRequired(f"The user did not sign in to {server!r}. Nothing was done.")
        return store.version(server, owner) != before


class PassedTokens:
    """The tokens that callers have for the governor."""

    has_owners = True

    def __init__(self) -> None:
        # A connection holds the token of its caller; no token is kept longer.
        self._tokens: WeakValueDictionary[str, PassedToken] = WeakValueDictionary()

    def take(self, caller: str, headers: Mapping[str, str]) -> PassedToken:
        token = self._tokens.setdefault(caller, PassedToken())
        token.authorization = headers.get("authorization") or (_own_token() if caller == LOCAL else None)
        return token

    def owner(self, caller: str) -> str:
        return caller

    def credentials(self, owner: str) -> RequestSigner:
        known = self._tokens.get(owner)
        return self.take(owner, {}) if known is None else known


def signing_for(charter: Path, name: str, table: UpstreamTable) -> Signing | None:
    """How the calls at a server are signed; None where the charter says nothing."""
    if table.oauth is not None:
        return SignedIn(SignIns(name, str(table.url), table.oauth, SignInStore(charter)))
    return PassedTokens() if table.pass_token else None


def _own_token() -> str | None:
    token = os.environ.get(TOKEN_VARIABLE)
    return f"Bearer {token}" if token else None
