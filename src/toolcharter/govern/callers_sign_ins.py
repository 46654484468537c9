"""Callers who sign in to upstreams: before they call, during a call, or at a page of the governor."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_core.app import App
from mcp_core.calling.records import VerbatimResult
from mcp_core.context import ToolContext
from mcp_core.errors import SignInRequired
from toolcharter.govern.charter import Charter, UpstreamTable
from toolcharter.govern.remote_tool import CallUpstream

if TYPE_CHECKING:
    from toolcharter.govern.oauth.invitations import LocalInvitations
    from toolcharter.govern.oauth.pages import SignInPages
    from toolcharter.govern.oauth.signing import SignedIn, Signing


class CallersSignIns:
    """How requests to each upstream are signed, and where callers sign in."""

    def __init__(self, path: Path, charter: Charter) -> None:
        self._public_url = charter.public_url
        self.signing = {name: _signing(path, name, table) for name, table in charter.upstream.items()}
        """By upstream; None for one whose callers share the secrets of the charter."""
        self.pages: SignInPages | None = None
        """The pages for sign-ins over HTTP, once they are served."""
        self._invitations: LocalInvitations | None = None

    def around(self, server: str, call: CallUpstream) -> CallUpstream:
        """The call of a tool, during which the person can sign in, where the client can open an address."""
        if self.signing[server] is None:
            return call

        async def call_signed_in(arguments: Mapping[str, Any], context: ToolContext) -> VerbatimResult:
            try:
                return await call(arguments, context)
            except SignInRequired as error:
                signing = self._signed_in().get(server)
                if signing is None or not await signing.ask(context, error):
                    raise
            # The server has refused the first call: nothing was done yet.
            return await call(arguments, context)

        return call_signed_in

    def routes(self, app: App, base_url: str) -> Sequence[Any]:
        """The routes for sign-ins over HTTP. From now on, calls name their addresses. `app` knows the callers."""
        if not (signed_in := self._signed_in()):
            return ()
        from toolcharter.govern.oauth.pages import SignInPages  # noqa: PLC0415 - with the site, which has loaded it

        access = app.identity.access if app.identity else None
        public_url = self._public_url or (access.public_url if access else base_url)
        pages = self.pages = SignInPages(app, {name: one.sign_ins for name, one in signed_in.items()}, public_url)
        for one in signed_in.values():
            one.invite = pages.invite
        return pages.routes()

    def invite_here(self) -> None:
        """Let calls begin sign-ins at this machine."""
        if not (signed_in := self._signed_in()):
            return
        from toolcharter.govern.oauth.invitations import LocalInvitations  # noqa: PLC0415 - loaded by now

        self._invitations = LocalInvitations()
        for one in signed_in.values():
            one.invite = self._invitations.invite

    async def close(self) -> None:
        """End what waits for sign-ins at this machine."""
        if self._invitations is not None:
            await self._invitations.close()

    def _signed_in(self) -> "Mapping[str, SignedIn]":
        """The servers that people sign in to."""
        found = {name: one for name, one in self.signing.items() if one is not None}
        if not found:
            return {}
        from toolcharter.govern.oauth.signing import SignedIn  # noqa: PLC0415 - loaded by now

        return {name: one for name, one in found.items() if isinstance(one, SignedIn)}


def _signing(path: Path, name: str, table: UpstreamTable) -> "Signing | None":
    if table.oauth is None and not table.pass_token:
        return None
    from toolcharter.govern.oauth.signing import signing_for  # noqa: PLC0415 - 20 ms, which few need

    return signing_for(path, name, table)
