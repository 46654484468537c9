"""One attempt to sign in: the address that a person opens, and what comes back from there."""

import base64
import hashlib
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlencode, urlsplit

from toolcharter.govern.charter import OAuthTable
from toolcharter.govern.oauth.challenge import Challenge
from toolcharter.govern.oauth.clients import configured_client, find_client
from toolcharter.govern.oauth.errors import ClientUnknown, GrantRejected, SignInFailed
from toolcharter.govern.oauth.metadata import Authority, AuthorizationServer, choose_scopes, find_authority
from toolcharter.govern.oauth.records import Attempt, Client, SignIn
from toolcharter.govern.oauth.store import SignInStore
from toolcharter.govern.oauth.tokens import error_code, exchange_code, own_tokens, refresh, revoke, with_tokens
from toolcharter.govern.upstream.errors import UpstreamUnavailable

ATTEMPT_SECONDS = 600.0
"""How long a person has to sign in."""


class SignIns:
    """Sign-ins at one governed server."""

    def __init__(self, server: str, address: str, table: OAuthTable, store: SignInStore) -> None:
        self.server, self.address, self.table, self.store = server, address, table, store

    async def begin(self, owner: str, challenge: Challenge, redirect_uri: str) -> Attempt:
        """Begin an attempt; it is kept until the browser comes back. Raises SignInFailed or UpstreamUnavailable."""
        authority = await find_authority(self.address, challenge, self.table.issuer)
        resource, server = authority
        if server.authorization_endpoint is None or not server.has_pkce:
            raise SignInFailed(f"cannot be signed in to: {server.issuer} does not offer PKCE with S256.")
        scopes = self._scopes(owner, challenge, authority)
        client = await find_client(server, redirect_uri, scopes, name=self.server, table=self.table, store=self.store)
        number, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(64)
        state = f"{number}.{secrets.token_urlsafe(24)}"
        query = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "code_challenge": _code_challenge(verifier),
            "code_challenge_method": "S256",
            "resource": resource.address,
            **({"scope": " ".join(scopes)} if scopes else {}),
        }
        attempt = Attempt(
            id=number,
            state=state,
            verifier=verifier,
            server=self.server,
            owner=owner,
            address=self.address,
            resource=resource.address,
            token_endpoint=server.token_endpoint,
            revocation_endpoint=server.revocation_endpoint,
            names_issuer=server.names_issuer,
            client=self._without_secret(client),
            redirect_uri=redirect_uri,
            scopes=scopes,
            authorization=_with_query(server.authorization_endpoint, query),
            expires=time.time() + ATTEMPT_SECONDS,
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
        """Keep the tokens for what the browser brought back. Raises SignInFailed or UpstreamUnavailable."""
        _check_issuer(attempt, answer)
        if "code" not in answer:
            reason = error_code(dict(answer)) or "no code"
            raise SignInFailed(f"was not signed in to: access was not granted ({reason}).")
        sign_in = SignIn(
            server=self.server,
            owner=attempt.owner,
            address=attempt.address,
            resource=attempt.resource,
            token_endpoint=attempt.token_endpoint,
            revocation_endpoint=attempt.revocation_endpoint,
            client=attempt.client,
            requested=attempt.scopes,
            scopes=attempt.scopes,
        )
        try:
            tokens = await exchange_code(attempt, self._with_secret(attempt.client), answer["code"])
        except ClientUnknown:
            self._forget_client(attempt.client)
            raise
        sign_in = with_tokens(sign_in, tokens)
        self.store.save(sign_in)
        return sign_in

    async def renew(self, sign_in: SignIn) -> SignIn:
        """New tokens, which are kept before they are used. Raises SignInFailed or UpstreamUnavailable."""
        complete = sign_in.model_copy(update={"client": self._with_secret(sign_in.client)})
        try:
            renewed = await refresh(complete)
        except GrantRejected as error:
            if isinstance(error, ClientUnknown):
                self._forget_client(sign_in.client)
            self.store.save(sign_in.without_tokens())
            raise
        kept = renewed.model_copy(update={"client": sign_in.client})
        self.store.save(kept)
        return kept

    async def end(self, owner: str) -> bool:
        """Forget a sign-in, and tell the authorization server, if it wants to know. Returns whether there was one."""
        sign_in = self.store.load(self.server, owner)
        # Where we were forgotten, whoever signs in again is registered again.
        self.store.remove_clients(self.server)
        existed = self.store.remove(self.server, owner)
        if sign_in is not None and not sign_in.is_over:
            with suppress(SignInFailed, UpstreamUnavailable):  # what is here is gone in any case
                await revoke(sign_in.model_copy(update={"client": self._with_secret(sign_in.client)}))
        return existed

    async def own_sign_in(self, owner: str, challenge: Challenge) -> SignIn:
        """Tokens of the client itself, which are not kept. Raises SignInFailed or UpstreamUnavailable."""
        resource, server = await find_authority(self.address, challenge, self.table.issuer)
        client = configured_client(self.table, server, self.store.charter_folder)
        if client is None:
            raise SignInFailed("has no client in the charter.")
        scopes = tuple(self.table.scopes) or challenge.scopes or resource.scopes
        tokens = await own_tokens(server.token_endpoint, client, scopes, resource.address)
        sign_in = SignIn(
            server=self.server,
            owner=owner,
            address=self.address,
            resource=resource.address,
            token_endpoint=server.token_endpoint,
            client=self._without_secret(client),
            requested=scopes,
            scopes=scopes,
        )
        return with_tokens(sign_in, tokens)

    def _forget_client(self, client: Client) -> None:
        """Register again next time, where the authorization server has forgotten our registration."""
        if client.redirect_uri is not None:
            self.store.remove_clients(self.server)

    def _without_secret(self, client: Client) -> Client:
        """A client as it is kept: the secret of the charter stays where the charter says."""
        return client if self.table.client_id is None else client.model_copy(update={"secret": None})

    def _with_secret(self, client: Client) -> Client:
        if self.table.client_secret is None or client.client_id != self.table.client_id:
            return client
        known = AuthorizationServer(client.issuer, "", auth_methods=(client.auth_method,))
        return configured_client(self.table, known, self.store.charter_folder) or client


def _code_challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _with_query(address: str, query: Mapping[str, str]) -> str:
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}"


def _check_issuer(attempt: Attempt, answer: Mapping[str, str]) -> None:
    """RFC 9207: a redirect from another server must not make us send its code, or show its error."""
    issuer = answer.get("iss")
    if issuer is None and not attempt.names_issuer:
        return
    if issuer != attempt.client.issuer:
        raise SignInFailed("was not signed in to: the answer came from another authorization server than was asked.")
