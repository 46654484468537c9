"""What goes wrong with an upstream server."""

from typing import Any, cast

from mcp_core.hosts.protocol import INTERNAL_ERROR


class UpstreamUnavailable(Exception):
    """The upstream cannot be reached, ended, or sent what cannot be used. The message says which."""


class UpstreamRefused(Exception):
    """The upstream answered a request with a protocol error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def refused(error: Any) -> UpstreamRefused:
    """The exception for the `error` member of a response, whatever it holds."""
    fields = cast(dict[str, Any], error) if isinstance(error, dict) else {}
    code, message = fields.get("code"), fields.get("message")
    return UpstreamRefused(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else "the server answered with an error without a message",
        fields.get("data"),
    )
