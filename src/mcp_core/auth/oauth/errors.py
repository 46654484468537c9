"""Errors of signing in."""

from collections.abc import Mapping
from typing import Any

_MAX_CODE_LENGTH = 60


class OAuthError(Exception):
    """A sign-in cannot go on. The message continues "The server NAME ..." and has no secret."""

    def __init__(self, message: str, *, status: int | None = None, reason: str = "") -> None:
        super().__init__(message)
        self.status = status
        """Of the response that is the error."""
        self.reason = reason
        """The OAuth error code, or why no response came."""


class OAuthUnavailable(OAuthError):
    """The authorization server does not answer as it should. What is stored stays valid."""


class AccessNotGranted(OAuthError):
    """The redirect has no code. The reason is the error code, if there is one."""


class OtherIssuer(OAuthError):
    """The redirect comes from another authorization server than the one of the request (RFC 9207)."""


class GrantRejected(OAuthError):
    """The authorization server no longer accepts a code or a refresh token."""


class ClientUnknown(GrantRejected):
    """The authorization server does not know the client, or no longer."""


def error_code(fields: Mapping[str, Any]) -> str | None:
    """The code of an OAuth error. Its description is somebody else's text, and is not shown."""
    code = fields.get("error")
    if isinstance(code, str) and code.isascii() and code.isprintable() and 0 < len(code) <= _MAX_CODE_LENGTH:
        return code
    return None
