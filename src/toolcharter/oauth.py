"""An OAuth client: sign in with the browser, exchange and renew tokens."""

from mcp_core.auth.oauth.authorization import authorization_code, authorization_url
from mcp_core.auth.oauth.clients import OAuthClient
from mcp_core.auth.oauth.errors import AccessNotGranted, ClientUnknown, OAuthError, OAuthUnavailable
from mcp_core.auth.oauth.http import OAuthHttp
from mcp_core.auth.oauth.loopback import CALLBACK, Completion, LoopbackReceiver, redirect_uri
from mcp_core.auth.oauth.renewal import SharedRenewal
from mcp_core.auth.oauth.tokens import TokenResponse, code_grant, refresh_grant, request_tokens

__all__ = [
    "CALLBACK",
    "AccessNotGranted",
    "ClientUnknown",
    "Completion",
    "LoopbackReceiver",
    "OAuthClient",
    "OAuthError",
    "OAuthHttp",
    "OAuthUnavailable",
    "SharedRenewal",
    "TokenResponse",
    "authorization_code",
    "authorization_url",
    "code_grant",
    "redirect_uri",
    "refresh_grant",
    "request_tokens",
]
