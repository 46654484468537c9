"""One attempt to sign in: the address that a person opens, and what comes back from there."""

import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mcp_core.auth.oauth.authorization import authorization_code, authorization_url
from mcp_core.auth.oauth.challenge import Challenge
from mcp_core.auth.oauth.clients import OAuthClient
from mcp_core.auth.oauth.errors import ClientUnknown, GrantRejected, OAuthError
from mcp_core.auth.oauth.http import OAuthHttp
from mcp_core.auth.oauth.metadata import Authority, AuthorizationServerMetadata, choose_scopes, discover
from mcp_core.auth.oauth.tokens import TokenResponse, code_grant, refresh_grant, request_tokens, revoke
from toolcharter.govern.charter import OAuthTable
from toolcharter.govern.oauth.clients import configured_client, find_client
from toolcharter.govern.oauth.records import Attempt, SignIn
from toolcharter.govern.oauth.store import SignInStore
from toolcharter.govern.upstream.errors import UpstreamUnavailable

ATTEMPT_SECONDS = 600.0
"""How long a person has to sign in."""


class SignIns:
    """Sign-ins at one governed server."""

    def __init__(self, server: str, address: str, table: OAuthTable, store: SignInStore) -> None:
        self.server, self.address, self.table, self.store = server, address, table, store
        self._http = OAuthHttp()

    async def begin(self, owner: str, challenge: Challenge, redirect_uri: str) -> Attempt:
        """Begin an attempt; it is kept until the browser comes back. Raises OAuthError or UpstreamUnavailable."""
        authority = await discover(self._http, self.address, challenge, self.table.issuer)
        resource, server = authority
        if server.authorization_endpoint is None or not server.has_pkce:
            raise OAuthError(f"cannot be signed in to: {server.issuer} does not offer PKCE with S256.")
        scopes = self._scopes(owner, challenge, authority)
        client = await find_client(
            self._http, server, redirect_uri, scopes, name=self.server, table=self.table, store=self.store
        )
        number, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(64)
        state = f"{number}.{secrets.token_urlsafe(24)}"
        attempt = Attempt(
            id=number,
            state=state,
            verifier=verifier,
            names_issuer=server.names_issuer,
            redirect_uri=redirect_uri,
            scopes=scopes,
            authorization=authorization_url(
                server.authorization_endpoint,
                client_id=client.client_id,
                redirect_uri=redirect_uri,
                state=state,
                verifier=verifier,
                scopes=scopes,
                resource=resource.address,
            ),
            expires=time.time() + ATTEMPT_SECONDS,
            **self._grant_fields(owner, authority, client),
        )
        self.store.save_attempt(attempt)
        return attempt

    def _scopes(self, owner: str, challenge: Challenge, authority: Authority) -> tuple[str, ...]:
        """The scopes to request: those of the charter, else what the server needs now, and what it needed before."""
        if self.table.scopes:
            return tuple(self.table.scopes)
        before = self.store.load(self.server, owner)
        requested = before.requested if before is not None and before.address == self.address else ()
        return tuple(dict.fromkeys((*requested, *choose_scopes(challenge, authority))))

    async def finish(self, attempt: Attempt, answer: Mapping[str, str]) -> SignIn:
        """Keep the tokens for what the browser brought back. Raises OAuthError or UpstreamUnavailable."""
        code = authorization_code(answer, attempt.client.issuer, names_issuer=attempt.names_issuer)
        form = code_grant(code, attempt.redirect_uri, attempt.verifier)
        sign_in = await self._request_tokens(attempt.granted(), form)
        self.store.save(sign_in)
        return sign_in

    async def renew(self, sign_in: SignIn) -> SignIn:
        """New tokens, which are kept before they are used. Raises OAuthError or UpstreamUnavailable."""
        try:
            renewed = await self._request_tokens(sign_in, refresh_grant(sign_in.refresh_token or ""))
        except GrantRejected:
            self.store.save(sign_in.without_tokens())
            raise
        self.store.save(renewed)
        return renewed

    async def end(self, owner: str) -> bool:
        """Forget a sign-in, and revoke its tokens where the issuer can do so. Returns whether there was one."""
        sign_in = self.store.load(self.server, owner)
        # Where we were forgotten, whoever signs in again is registered again.
        self.store.remove_clients(self.server)
        existed = self.store.remove(self.server, owner)
        if sign_in is not None and not sign_in.is_over and sign_in.revocation_endpoint is not None:
            with suppress(OAuthError, UpstreamUnavailable):  # what is here is gone in any case
                token = sign_in.refresh_token or sign_in.access_token
                await revoke(self._http, sign_in.revocation_endpoint, self._with_secret(sign_in.client), token)
        return existed

    async def own_sign_in(self, owner: str, challenge: Challenge) -> SignIn:
        """Tokens of the client itself, which are not kept. Raises OAuthError or UpstreamUnavailable."""
        authority = await discover(self._http, self.address, challenge, self.table.issuer)
        resource, server = authority
        client = configured_client(self.table, server, self.store.charter_folder)
        if client is None:
            raise OAuthError("has no client in the charter.")
        scopes = tuple(self.table.scopes) or challenge.scopes or resource.scopes
        sign_in = SignIn(requested=scopes, scopes=scopes, **self._grant_fields(owner, authority, client))
        form = {"grant_type": "client_credentials", **({"scope": " ".join(scopes)} if scopes else {})}
        return await self._request_tokens(sign_in, form)

    async def _request_tokens(self, sign_in: SignIn, form: Mapping[str, str]) -> SignIn:
        """The sign-in with new tokens. Raises OAuthError or UpstreamUnavailable."""
        sent, client = {**form, "resource": sign_in.resource}, self._with_secret(sign_in.client)
        try:
            return _with_tokens(sign_in, await request_tokens(self._http, sign_in.token_endpoint, client, sent))
        except ClientUnknown:
            # Register again next time, where the authorization server has forgotten our registration.
            if sign_in.client.redirect_uri is not None:
                self.store.remove_clients(self.server)
            raise

    def _grant_fields(self, owner: str, authority: Authority, client: OAuthClient) -> dict[str, Any]:
        """The fields that an attempt and a sign-in share."""
        return {
            "server": self.server,
            "owner": owner,
            "address": self.address,
            "resource": authority.resource.address,
            "token_endpoint": authority.server.token_endpoint,
            "revocation_endpoint": authority.server.revocation_endpoint,
            "client": self._without_secret(client),
        }

    def _without_secret(self, client: OAuthClient) -> OAuthClient:
        """A client as it is kept: the secret of the charter stays where the charter says."""
        return client if self.table.client_id is None else client.model_copy(update={"secret": None})

    def _with_secret(self, client: OAuthClient) -> OAuthClient:
        if self.table.client_secret is None or client.client_id != self.table.client_id:
            return client
        known = AuthorizationServerMetadata(client.issuer, "", auth_methods=(client.auth_method,))
        return configured_client(self.table, known, self.store.charter_folder) or client


def _with_tokens(sign_in: SignIn, tokens: TokenResponse) -> SignIn:
    """The sign-in with what a token endpoint gave. What it did not repeat stays."""
    return sign_in.model_copy(
        update={
            "access_token": tokens.access_token,
            "refresh_token": tokens.refresh_token or sign_in.refresh_token,
            "scopes": sign_in.scopes if tokens.scopes is None else tokens.scopes,
            "expires": None if tokens.expires_in is None else time.time() + tokens.expires_in,
        }
    )
