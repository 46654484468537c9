"""How we are known to an authorization server, in the order of the specification.

A client of the charter, else a metadata document that the charter names and the server takes, else a registration
(RFC 7591), which is kept. Each is used with the authorization server that it is for, and no other.
"""

from http import HTTPStatus
from pathlib import Path

from mcp_core.json_text import JsonObject
from toolcharter.govern.charter import OAuthTable
from toolcharter.govern.oauth import http
from toolcharter.govern.oauth.addresses import is_loopback
from toolcharter.govern.oauth.errors import SignInFailed
from toolcharter.govern.oauth.metadata import AuthorizationServer, is_same_issuer
from toolcharter.govern.oauth.records import Client
from toolcharter.govern.oauth.store import SignInStore
from toolcharter.govern.oauth.tokens import error_code
from toolcharter.govern.secrets import read_secrets

_METHODS = ("none", "client_secret_basic", "client_secret_post")


def configured_client(table: OAuthTable, server: AuthorizationServer, folder: Path) -> Client | None:
    """The client that the charter names; None where it names none. Raises SignInFailed or UpstreamUnavailable."""
    if table.client_id is None:
        return None
    if table.issuer is not None and not is_same_issuer(table.issuer, server.issuer):
        raise SignInFailed(f"has another authorization server, {server.issuer}, than its client in the charter.")
    if table.client_secret is None:
        return Client(client_id=table.client_id, issuer=server.issuer)
    secret = read_secrets({"client_secret": table.client_secret}, folder)["client_secret"]
    method = "client_secret_post"
    if "client_secret_basic" in server.auth_methods or method not in server.auth_methods:
        method = "client_secret_basic"
    return Client(client_id=table.client_id, issuer=server.issuer, secret=secret, auth_method=method)


async def find_client(
    server: AuthorizationServer,
    redirect_uri: str,
    scopes: tuple[str, ...],
    *,
    name: str,
    table: OAuthTable,
    store: SignInStore,
) -> Client:
    """The client for a sign-in that ends at `redirect_uri`. Raises SignInFailed or UpstreamUnavailable."""
    if (client := configured_client(table, server, store.charter_folder)) is not None:
        return client
    if table.client_metadata is not None and server.takes_metadata_documents:
        return Client(client_id=table.client_metadata, issuer=server.issuer)
    known = store.client(name, server.issuer, redirect_uri)
    if known is not None and set(scopes) <= set(known.scopes):
        return known
    if server.registration_endpoint is None:
        raise SignInFailed(
            f"can be signed in to with a registered client only. Register one at {server.issuer}, with the redirect "
            f"address {redirect_uri}, and set client_id in [upstream.{name}.oauth] of the charter."
        )
    client = await _register(name, server, redirect_uri, scopes)
    store.save_client(name, client)
    return client


async def _register(name: str, server: AuthorizationServer, redirect_uri: str, scopes: tuple[str, ...]) -> Client:
    method = next((one for one in _METHODS if one in server.auth_methods), "none")
    document: JsonObject = {
        "client_name": f"toolcharter govern ({name})",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "native" if is_loopback(redirect_uri) else "web",
        **({"scope": " ".join(scopes)} if scopes else {}),
    }
    answer = await http.post_json(str(server.registration_endpoint), document)
    client_id, secret = answer.fields.get("client_id"), answer.fields.get("client_secret")
    if answer.status not in (HTTPStatus.OK, HTTPStatus.CREATED) or not isinstance(client_id, str) or not client_id:
        reason = error_code(answer.fields) or f"status {answer.status}"
        raise SignInFailed(
            f"cannot be signed in to: {server.issuer} refused to register us ({reason}). Register a client there, with "
            f"the redirect address {redirect_uri}, and set client_id in [upstream.{name}.oauth] of the charter."
        )
    given = answer.fields.get("token_endpoint_auth_method", method)
    if given not in _METHODS or (given != "none" and not isinstance(secret, str)):
        raise SignInFailed(
            f"cannot be signed in to: {server.issuer} registered us with {str(given)[:60]!r}, which is not known here."
        )
    return Client(
        client_id=client_id,
        issuer=server.issuer,
        secret=secret if isinstance(secret, str) and given != "none" else None,
        auth_method=given,
        redirect_uri=redirect_uri,
        scopes=scopes,
    )
