"""Recognizes errors whose cause is outside the server: a missing program, network, account or setting."""

import re
from collections.abc import Iterable

from toolcharter.verify.live.observations import Exchange

_OUTSIDE = re.compile(
    r"executable (doesn.t|does not) exist|\b(browser|chrome|chromium|firefox|docker|ffmpeg|java)\b[^.\n]{0,20}"
    r"(not installed|not found|missing|could not be found)|please install\b|playwright install|failed to launch"
    r"|command not found|\bspawn \S+ ENOENT\b|\b(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|ETIMEDOUT)\b"
    r"|connection refused|network is unreachable"
    r"|could not resolve host|name or service not known|temporary failure in name resolution"
    r"|(api[ _-]?key|token|credentials?|environment variable)\b[^.\n]{0,60}"
    r"(not set|missing|required|not found|not configured|not provided|undefined)"
    r"|(missing|no|set( the)?|provide( an?)?) [\w-]{0,30}[ _-]?(api[ _-]?key|credentials|environment variable)"
    r"|is (the )?\w+ (daemon|server|service) running|cannot connect to the \w+ daemon",
    re.IGNORECASE,
)
_MAX_LENGTH = 5_000


def unjudged_tools(exchanges: Iterable[Exchange]) -> dict[str, str]:
    """The tools that cannot be judged here, each with the error: a valid call failed for a reason outside the server.

    If no valid call could be made, the other calls decide.
    """
    valid: dict[str, list[Exchange]] = {}
    invalid: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        (invalid if exchange.is_invalid else valid).setdefault(exchange.tool, []).append(exchange)
    deciding = {**invalid, **valid}
    errors = {tool: next(filter(None, map(_outside_error, calls)), None) for tool, calls in deciding.items()}
    return {tool: error for tool, error in errors.items() if error is not None}


def _outside_error(exchange: Exchange) -> str | None:
    """The line of an error that names a cause outside the server; None if there is none."""
    if not exchange.is_rejected or exchange.timed_out:
        return None
    text = (exchange.answer.text if exchange.answer else exchange.failure)[:_MAX_LENGTH]
    return next((line.strip() for line in text.splitlines() if _OUTSIDE.search(line)), None)
