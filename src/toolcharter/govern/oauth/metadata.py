"""Where the tokens of a server come from: protected-resource metadata, then that of its authorization server."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from mcp_core.json_text import JsonObject
from toolcharter.govern.oauth import http
from toolcharter.govern.oauth.addresses import check_address, contains
from toolcharter.govern.oauth.challenge import Challenge
from toolcharter.govern.oauth.errors import SignInFailed, SignInUnavailable

_RESOURCE = "/.well-known/oauth-protected-resource"
_SERVER = "/.well-known/oauth-authorization-server"
_OPENID = "/.well-known/openid-configuration"


class ProtectedResource(NamedTuple):
    """What a server says about the tokens that it takes."""

    address: str
    """The value of `resource` in requests for tokens."""
    issuer: str
    scopes: tuple[str, ...] = ()


class AuthorizationServer(NamedTuple):
    """What an authorization server says of itself."""

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

    resource: ProtectedResource
    server: AuthorizationServer


async def find_authority(address: str, challenge: Challenge, issuer: str | None = None) -> Authority:
    """Who gives tokens for the server at an address; `issuer` is that of the charter. Raises SignInFailed."""
    resource = await _find_resource(address, challenge, issuer)
    return Authority(resource, await _find_server(resource.issuer, address))


async def _find_resource(server: str, challenge: Challenge, issuer: str | None) -> ProtectedResource:
    for address in _resource_addresses(server, challenge):
        answer = await http.get(check_address(address, "metadata address", server))
        if answer.status == HTTPStatus.OK and "resource" in answer.fields:
            return _resource(server, answer.fields, issuer)
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise SignInUnavailable(f"cannot be signed in to now: {address} answered {answer.status}.")
    # Servers from before 2025-06 are their own authorization servers.
    parts = urlsplit(server)
    return ProtectedResource(server, issuer or f"{parts.scheme}://{parts.netloc}")


def _resource_addresses(server: str, challenge: Challenge) -> Iterator[str]:
    if challenge.resource_metadata is not None:
        yield challenge.resource_metadata
    parts = urlsplit(server)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    if path:
        yield f"{root}{_RESOURCE}{path}"
    yield f"{root}{_RESOURCE}"


def _resource(server: str, fields: JsonObject, issuer: str | None) -> ProtectedResource:
    address = fields["resource"]
    if not isinstance(address, str) or not contains(address, server):
        # Its tokens would be for another server, which could use them there.
        raise SignInFailed(f"describes another resource, {str(address)[:200]!r}. Nobody can sign in to it safely.")
    issuers = _texts(fields.get("authorization_servers"))
    if issuer is not None and not any(is_same_issuer(issuer, one) for one in issuers):
        names = ", ".join(map(repr, issuers))[:300] or "none"
        raise SignInFailed(
            f"takes tokens of these issuers: {names}. The charter names {issuer!r}, and its client is for that one."
        )
    if not issuers:
        raise SignInFailed("does not say which authorization server gives tokens for it.")
    return ProtectedResource(address, issuer or issuers[0], _texts(fields.get("scopes_supported")))


async def _find_server(issuer: str, server: str) -> AuthorizationServer:
    check_address(issuer, "authorization server", server)
    for address in _server_addresses(issuer):
        answer = await http.get(address)
        if answer.status == HTTPStatus.OK and "issuer" in answer.fields:
            return _server(issuer, answer.fields, server)
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise SignInUnavailable(f"cannot be signed in to now: {address} answered {answer.status}.")
    raise SignInFailed(f"has an authorization server without metadata: {issuer}.")


def _server_addresses(issuer: str) -> Iterator[str]:
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    yield f"{root}{_SERVER}{path}"
    if path:
        yield f"{root}{_OPENID}{path}"
    yield f"{root}{path}{_OPENID}"


def _server(issuer: str, fields: JsonObject, server: str) -> AuthorizationServer:
    named = fields["issuer"]
    if not isinstance(named, str) or not is_same_issuer(named, issuer):
        raise SignInFailed(f"has an authorization server, {issuer}, whose metadata name another: {str(named)[:200]!r}.")

    def endpoint(name: str) -> str | None:
        return check_address(fields[name], name.replace("_", " "), server) if fields.get(name) is not None else None

    token_endpoint = endpoint("token_endpoint")
    if token_endpoint is None:
        raise SignInFailed(f"has an authorization server without a token endpoint: {issuer}.")
    return AuthorizationServer(
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


def is_same_issuer(one: str, other: str) -> bool:
    """Whether two names of issuers are the same. Some servers write a host with a slash in one place only."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    return longer == f"{shorter}/" and urlsplit(shorter).path == ""


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
