"""Who calls, and what they may do: callers, bearer tokens, access tokens of an issuer, and the policy file."""

from mcp_core.auth.caller import LOCAL, Caller, IdentityUnavailable, TokenVerifier, user
from mcp_core.auth.static_tokens import StaticTokens

__all__ = ["LOCAL", "Caller", "IdentityUnavailable", "StaticTokens", "TokenVerifier", "user"]
