"""Metadata of protected resources (RFC 9728), and of authorization servers (RFC 8414, OpenID Connect Discovery)."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from mcp_core.auth.oauth.addresses import check_address, contains, is_same_issuer
from mcp_core.auth.oauth.challenge import Challenge
from mcp_core.auth.oauth.errors import OAuthError, OAuthUnavailable
from mcp_core.auth.oauth.http import OAuthHttp
from mcp_core.text.json_text import JsonObject

_RESOURCE = "/.well-known/oauth-protected-resource"
_SERVER = "/.well-known/oauth-authorization-server"
_OPENID = "/.well-known/openid-configuration"


class ProtectedResourceMetadata(NamedTuple):
    """The tokens that a server accepts (RFC 9728)."""

    address: str
    """The value of `resource` in requests for tokens."""
    issuer: str
    scopes: tuple[str, ...] = ()


class AuthorizationServerMetadata(NamedTuple):
    """The endpoints of an authorization server, and what it supports (RFC 8414)."""

    issuer: str
    token_endpoint: str
    authorization_endpoint: str | None = None
    registration_endpoint: str | None = None
    scopes: tuple[str, ...] = ()
    auth_methods: tuple[str, ...] = ("client_secret_basic",)
    takes_metadata_documents: bool = False
    names_issuer: bool = False
    """Whether each of its redirects names it (RFC 9207)."""
    has_pkce: bool = False
    revocation_endpoint: str | None = None


class Authority(NamedTuple):
    """A server, and who gives tokens for it."""

    resource: ProtectedResourceMetadata
    server: AuthorizationServerMetadata


async def discover(http: OAuthHttp, address: str, challenge: Challenge, issuer: str | None = None) -> Authority:
    """The authority for the server at an address; `issuer` is that of the charter. Raises OAuthError."""
    resource = await _find_resource(http, address, challenge, issuer)
    return Authority(resource, await _find_server(http, resource.issuer, address))


async def _find_resource(
    http: OAuthHttp, server: str, challenge: Challenge, issuer: str | None
) -> ProtectedResourceMetadata:
    for address in _resource_addresses(server, challenge):
        answer = await http.get(check_address(address, "metadata address", server))
        if answer.status == HTTPStatus.OK and "resource" in answer.fields:
            return _resource(server, answer.fields, issuer)
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise OAuthUnavailable(f"cannot be signed in to now: {address} answered {answer.status}.")
    # Servers from before 2025-06 are their own authorization servers.
    parts = urlsplit(server)
    return ProtectedResourceMetadata(server, issuer or f"{parts.scheme}://{parts.netloc}")


def _resource_addresses(server: str, challenge: Challenge) -> Iterator[str]:
    if challenge.resource_metadata is not None:
        yield challenge.resource_metadata
    parts = urlsplit(server)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    if path:
        yield f"{root}{_RESOURCE}{path}"
    yield f"{root}{_RESOURCE}"


def _resource(server: str, fields: JsonObject, issuer: str | None) -> ProtectedResourceMetadata:
    address = fields["resource"]
    if not isinstance(address, str) or not contains(address, server):
        # Its tokens would be for another server, which could use them there.
        raise OAuthError(f"describes another resource, {str(address)[:200]!r}. Nobody can sign in to it safely.")
    issuers = _texts(fields.get("authorization_servers"))
    if issuer is not None and not any(is_same_issuer(issuer, one) for one in issuers):
        names = ", ".join(map(repr, issuers))[:300] or "none"
        raise OAuthError(
            f"takes tokens of these issuers: {names}. The charter names {issuer!r}, and its client is for that one."
        )
    if not issuers:
        raise OAuthError("does not say which authorization server gives tokens for it.")
    return ProtectedResourceMetadata(address, issuer or issuers[0], _texts(fields.get("scopes_supported")))


async def _find_server(http: OAuthHttp, issuer: str, server: str) -> AuthorizationServerMetadata:
    check_address(issuer, "authorization server", server)
    for address in server_metadata_urls(issuer):
        answer = await http.get(address)
        if answer.status == HTTPStatus.OK and "issuer" in answer.fields:
            return _server(issuer, answer.fields, server)
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise OAuthUnavailable(f"cannot be signed in to now: {address} answered {answer.status}.")
    raise OAuthError(f"has an authorization server without metadata: {issuer}.")


def server_metadata_urls(issuer: str) -> tuple[str, ...]:
    """The addresses of the metadata of an issuer: RFC 8414 first, OpenID Connect Discovery last."""
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    inserted = (f"{root}{_OPENID}{path}",) if path else ()
    return (f"{root}{_SERVER}{path}", *inserted, f"{root}{path}{_OPENID}")


def _server(issuer: str, fields: JsonObject, server: str) -> AuthorizationServerMetadata:
    named = fields["issuer"]
    if not isinstance(named, str) or not is_same_issuer(named, issuer):
        raise OAuthError(f"has an authorization server, {issuer}, whose metadata name another: {str(named)[:200]!r}.")

    def endpoint(name: str) -> str | None:
        return check_address(fields[name], name.replace("_", " "), server) if fields.get(name) is not None else None

    token_endpoint = endpoint("token_endpoint")
    if token_endpoint is None:
        raise OAuthError(f"has an authorization server without a token endpoint: {issuer}.")
    return AuthorizationServerMetadata(
        named,
        token_endpoint,
        endpoint("authorization_endpoint"),
        endpoint("registration_endpoint"),
        _texts(fields.get("scopes_supported")),
        _texts(fields.get("token_endpoint_auth_methods_supported")) or ("client_secret_basic",),
        fields.get("client_id_metadata_document_supported") is True,
        fields.get("authorization_response_iss_parameter_supported") is True,
        "S256" in _texts(fields.get("code_challenge_methods_supported")),
        endpoint("revocation_endpoint"),
    )


def choose_scopes(challenge: Challenge, authority: Authority) -> tuple[str, ...]:
    """The scopes that a server needs: of its challenge, else of its metadata; and one for a refresh token."""
    scopes, offered = challenge.scopes or authority.resource.scopes, authority.server.scopes
    if scopes and "offline_access" in offered and "offline_access" not in scopes:
        return (*scopes, "offline_access")
    return scopes


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(one for one in cast(list[Any], value) if isinstance(one, str) and one)
