"""The client for an authorization server, in the order of the specification.

A client of the charter, else a metadata document that the charter names and the server takes, else a registration
(RFC 7591), which is kept. Each is used with the authorization server that it is for, and no other.
"""

from pathlib import Path

from mcp_core.auth.oauth.addresses import is_same_issuer
from mcp_core.auth.oauth.clients import OAuthClient, register
from mcp_core.auth.oauth.errors import OAuthError
from mcp_core.auth.oauth.http import OAuthHttp
from mcp_core.auth.oauth.metadata import AuthorizationServerMetadata
from toolcharter.govern.charter import OAuthTable
from toolcharter.govern.oauth.store import SignInStore
from toolcharter.govern.secrets import read_secrets


def configured_client(table: OAuthTable, server: AuthorizationServerMetadata, folder: Path) -> OAuthClient | None:
    """The client that the charter names; None where it names none. Raises OAuthError or UpstreamUnavailable."""
    if table.client_id is None:
        return None
    if table.issuer is not None and not is_same_issuer(table.issuer, server.issuer):
        raise OAuthError(f"has another authorization server, {server.issuer}, than its client in the charter.")
    sources = {} if table.client_secret is None else {"client_secret": table.client_secret}
    secret = read_secrets(sources, folder).get("client_secret")
    return OAuthClient.with_secret(table.client_id, server.issuer, secret, server.auth_methods)


async def find_client(
    http: OAuthHttp,
    server: AuthorizationServerMetadata,
    redirect_uri: str,
    scopes: tuple[str, ...],
    *,
    name: str,
    table: OAuthTable,
    store: SignInStore,
) -> OAuthClient:
    """The client for a sign-in that ends at `redirect_uri`. Raises OAuthError or UpstreamUnavailable."""
    if (client := configured_client(table, server, store.charter_folder)) is not None:
        return client
    if table.client_metadata is not None and server.takes_metadata_documents:
        return OAuthClient(client_id=table.client_metadata, issuer=server.issuer)
    known = store.client(name, server.issuer, redirect_uri)
    if known is not None and set(scopes) <= set(known.scopes):
        return known
    in_charter = f"the redirect address {redirect_uri}, and set client_id in [upstream.{name}.oauth] of the charter."
    if server.registration_endpoint is None:
        raise OAuthError(
            f"can be signed in to with a registered client only. Register one at {server.issuer}, with {in_charter}"
        )
    client = await register(
        http,
        server,
        name=f"toolcharter govern ({name})",
        redirect_uri=redirect_uri,
        scopes=scopes,
        otherwise=f"Register a client there, with {in_charter}",
    )
    store.save_client(name, client)
    return client
