"""Errors of an upstream server."""

from typing import Any, cast

from mcp_core.hosts.names import INTERNAL_ERROR, INVALID_REQUEST


class UpstreamUnavailable(Exception):
    """The upstream cannot be reached, ended, or sent what cannot be used. The message says which."""


class TokenRequired(UpstreamUnavailable):
    """The upstream wants a token, and the charter does not say which."""


class UpstreamRefused(Exception):
    """The upstream answered a request with a protocol error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class HttpRefused(UpstreamRefused):
    """The upstream refused a request by HTTP alone."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(INVALID_REQUEST, message)
        self.status = status


class NotStreamable(UpstreamUnavailable):
    """There is no streamable HTTP at the address. It may be that of the older transport."""


def refused(error: Any) -> UpstreamRefused:
    """The exception for the `error` member of a response, whatever it holds."""
    fields = cast(dict[str, Any], error) if isinstance(error, dict) else {}
    code, message = fields.get("code"), fields.get("message")
    return UpstreamRefused(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else "the server answered with an error without a message",
        fields.get("data"),
    )
