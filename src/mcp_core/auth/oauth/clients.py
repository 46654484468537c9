"""Clients as authorization servers know them: their authentication (RFC 6749) and registration (RFC 7591)."""

import base64
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from mcp_core.auth.oauth.addresses import is_loopback
from mcp_core.auth.oauth.errors import OAuthError, error_code
from mcp_core.auth.oauth.http import OAuthHttp
from mcp_core.auth.oauth.metadata import AuthorizationServerMetadata
from mcp_core.text.json_text import JsonObject

_METHODS = ("none", "client_secret_basic", "client_secret_post")


class OAuthClient(BaseModel):
    """A client of one authorization server, as it is stored. Its repr has no secret."""

    model_config = ConfigDict(frozen=True)

    client_id: str
    issuer: str
    secret: str | None = Field(default=None, repr=False)
    auth_method: str = "none"
    redirect_uri: str | None = None
    scopes: tuple[str, ...] = ()
    """Those that it was registered for."""

    @classmethod
    def with_secret(cls, client_id: str, issuer: str, secret: str | None, methods: Sequence[str]) -> "OAuthClient":
        """A client that the configuration names, for a server that accepts these authentication methods."""
        if secret is None:
            return cls(client_id=client_id, issuer=issuer)
        by_form = "client_secret_post" in methods and "client_secret_basic" not in methods
        method = "client_secret_post" if by_form else "client_secret_basic"
        return cls(client_id=client_id, issuer=issuer, secret=secret, auth_method=method)

    def authenticate(self, form: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """A form and headers that authenticate the client."""
        # Some servers look for the client in the form even if it authenticates itself with a header.
        sent = {**form, "client_id": self.client_id}
        if self.auth_method == "client_secret_basic":
            return sent, basic_authorization(quote(self.client_id, safe=""), quote(self.secret or "", safe=""))
        return sent | ({} if self.secret is None else {"client_secret": self.secret}), {}


def basic_authorization(user: str, password: str) -> dict[str, str]:
    """The header of HTTP Basic authentication."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


async def register(
    http: OAuthHttp,
    server: AuthorizationServerMetadata,
    *,
    name: str,
    redirect_uri: str,
    scopes: tuple[str, ...],
    otherwise: str,
) -> OAuthClient:
    """Register a client. `otherwise` is what to do where that is refused. Raises OAuthError."""
    method = next((one for one in _METHODS if one in server.auth_methods), "none")
    document: JsonObject = {
        "client_name": name,
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
        raise OAuthError(f"cannot be signed in to: {server.issuer} refused to register us ({reason}). {otherwise}")
    given = answer.fields.get("token_endpoint_auth_method", method)
    if given not in _METHODS or (given != "none" and not isinstance(secret, str)):
        raise OAuthError(
            f"cannot be signed in to: {server.issuer} registered us with {str(given)[:60]!r}, which is not known here."
        )
    return OAuthClient(
        client_id=client_id,
        issuer=server.issuer,
        secret=secret if isinstance(secret, str) and given != "none" else None,
        auth_method=given,
        redirect_uri=redirect_uri,
        scopes=scopes,
    )
