"""Error responses of a site as our own errors. This is the only place that knows their shapes.

AuthError          AuthError          401: the credentials are missing, wrong or expired
PermissionDenied   PermissionError    403: this user may not
NotFound           NotFoundError      404: not there, or not visible to this user
InvalidArguments   ValidationError    400, 413, 415, 422: the site names what is wrong
Conflict           ConflictError      409: somebody else was first
RateLimited        RateLimitError     429: too many requests
SiteUnavailable    NetworkError       5xx, no connection, no answer in time, or not Jira or Confluence at all
"""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, cast

from toolcharter import Conflict, InvalidArguments, NotFound, PermissionDenied, ToolError, instructions
from toolcharter.errors import RateLimited
from toolcharter.log import redact_text

MAX_MESSAGE_LENGTH = 500
MAX_MESSAGES = 8


class AuthError(ToolError):
    """The site does not accept the credentials."""

    error_type = "AuthError"
    default_instruction = (
        f"{instructions.PRESENT_ERROR} Offer setup_atlassian_credentials; call it only if the user asks for it."
    )


class SiteUnavailable(ToolError):
    """The site cannot be reached, or fails."""

    error_type = "NetworkError"
    kind = "system"


class WriteOutcomeUnknown(SiteUnavailable):
    """The connection broke while a write was under way: it may have happened."""

    default_instruction = "Read the item to see whether the change is there before trying again."


def site_error(status: int, body: Any, *, what: str, retry_after: float | None = None) -> ToolError:
    """The error for an HTTP status and the decoded body. `what` is the request: 'GET /rest/api/3/myself'."""
    messages, fields = _messages(body)
    answer = f"(HTTP {status} for {what})"
    detail = f" The site says: {'; '.join(messages)}" if messages else ""
    match status:
        case HTTPStatus.UNAUTHORIZED:
            return AuthError(f"The site does not accept the credentials {answer}.{detail}")
        case HTTPStatus.FORBIDDEN:
            return PermissionDenied(f"The site refused this {answer}.{detail}")
        case HTTPStatus.NOT_FOUND:
            hidden = detail or " It does not exist, or this user may not see it."
            return NotFound(f"The site did not find it {answer}.{hidden}")
        case HTTPStatus.CONFLICT:
            return Conflict(f"The site reports a conflict {answer}.{detail}")
        case HTTPStatus.TOO_MANY_REQUESTS:
            return RateLimited(f"The site's rate limit is reached {answer}.{detail}", retry_after=retry_after or 60)
        case _ if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return InvalidArguments(f"The site refused the request {answer}.{detail}", fields=tuple(fields))
        case _:
            return SiteUnavailable(f"The site failed {answer}.{detail}")


def _messages(body: Any) -> tuple[list[str], list[str]]:
    """The error messages of the site, and the fields that they name."""
    if isinstance(body, str):
        text = body.strip()
        return ([_clean(text)] if text and "<" not in text[:20] else []), []
    if not isinstance(body, dict):
        return [], []
    shown = cast(dict[str, Any], body)
    unique = dict.fromkeys(_clean(text) for text in _each_message(shown) if text)
    return list(unique)[:MAX_MESSAGES], list(_object(shown.get("errors")))


def _each_message(body: Mapping[str, Any]) -> Iterator[str]:
    for text in _list(body.get("errorMessages")):  # Jira
        yield str(text)
    for field, text in _object(body.get("errors")).items():
        yield f"{field}: {text}"
    for error in map(_object, _list(body.get("errors"))):  # Confluence Cloud
        yield ": ".join(str(error[key]) for key in ("title", "detail") if error.get(key))
    for error in map(_object, _list(_object(body.get("data")).get("errors"))):  # Confluence Data Center
        message = _object(error.get("message"))
        yield str(message.get("translation") or message.get("key") or "")
    for key in ("message", "errorMessage", "error_description"):  # the gateway, Service Management, OAuth
        if isinstance(body.get(key), str):
            yield body[key]


def _object(value: Any) -> Mapping[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _clean(text: str) -> str:
    shown = " ".join(redact_text(text).split())
    return shown if len(shown) <= MAX_MESSAGE_LENGTH else shown[:MAX_MESSAGE_LENGTH] + "..."
