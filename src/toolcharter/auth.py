"""Callers, their permissions, and verifiers of bearer tokens."""

from mcp_core.auth import Caller, IdentityUnavailable, StaticTokens, TokenVerifier, user

__all__ = ["Caller", "IdentityUnavailable", "StaticTokens", "TokenVerifier", "user"]
