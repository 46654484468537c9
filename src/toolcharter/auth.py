"""Callers, their permissions, and verifiers of bearer tokens."""

from mcp_core.auth import LOCAL, Caller, IdentityUnavailable, StaticTokens, TokenVerifier, user

__all__ = ["LOCAL", "Caller", "IdentityUnavailable", "StaticTokens", "TokenVerifier", "user"]
