"""Step 2: who calls, in which trace, and which values must not appear in any log or error."""

import base64
import json
import random
import re
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from mcp_core.calling.bound import BoundTool
from mcp_core.calling.people.asking import asker
from mcp_core.calling.records import Call, Request
from mcp_core.context import ToolContext
from mcp_core.logs.telemetry import trace_id_of
from mcp_core.mcp_log import LogContext, is_secret_name

if TYPE_CHECKING:
    from opentelemetry.trace import Span

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_MAX_ID_LENGTH = 128
_MIN_SECRET_LENGTH = 4
"""A shorter line of a secret, or a shorter credential, says nothing, but may be a part of many other texts."""


def observe(request: Request, tool: BoundTool, span: "Span | None", now: float) -> Call:
    """The call with its ids: the caller's, or new ones."""
    meta, caller = request.meta, request.caller
    fresh = random.randbytes(32).hex()  # noqa: S311 - ids must be unique, not secret
    # In order and without names, which would take twice as long.
    context = ToolContext(
        ("correlationId" in meta and correlation_id(meta)) or fresh[:32],
        ((trace_id(meta) if "traceparent" in meta else None) if span is None else trace_id_of(span)) or fresh[32:],
        request.agent_id,
        request.agent_version,
        _millisecond(int(now * 1000)),  # timestamp
        caller.user_id,
        request.session_id,
        meta,
        tool.read_only,
        request.progress,
        request.folders,
        caller.key,
        request.headers,
    )
    if tool.asks:
        elicit = asker(request, tool.final_name)
        context = context._replace(elicit=elicit, modes=request.modes, notify_complete=request.notify_complete)
    return Call(request, tool.spec, tool.final_name, context)


def utc_time(now: float) -> str:
    """A time in ISO 8601, with its offset."""
    return _millisecond(int(now * 1000))


@lru_cache(maxsize=4)
def _millisecond(number: int) -> str:
    second, millisecond = divmod(number, 1000)
    return f"{_second(second)}.{millisecond:03}+00:00"


@lru_cache(maxsize=4)
def _second(number: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(number))


def log_context(call: Call) -> LogContext:
    """The context of each log line of the call."""
    has_secrets = call.spec.secret_fields or call.request.headers
    secrets = secret_values(call) if has_secrets else ()
    return LogContext(call.context.trace_id, call.context.correlation_id, secrets, call.request.caller.key)


def secret_values(call: Call) -> tuple[str, ...]:
    """The values of secret arguments and headers; the longest first, as one may be the start of another."""
    fields, headers = call.spec.secret_fields, call.request.headers
    if not fields and not headers:
        return ()
    secrets = chain(_secret_values(call.request.arguments, fields), _credentials(headers))
    values = {form for value in secrets for form in _written_forms(value)}
    return tuple(sorted(values, key=len, reverse=True))


def _written_forms(secret: str) -> Iterator[str]:
    """The secret, as `repr` and JSON write it, and each of its lines."""
    yield secret
    if secret.isalnum() and secret.isascii():
        return
    for line in (secret, *(line for line in secret.splitlines() if len(line) >= _MIN_SECRET_LENGTH)):
        yield from (line, repr(line)[1:-1], json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1])


def _secret_values(arguments: Mapping[str, Any], fields: frozenset[str]) -> Iterator[str]:
    # A list, not recursion: arguments may be nested deeper than the stack.
    rest: list[tuple[Any, bool]] = [(arguments, False)]
    while rest:
        value, secret = rest.pop()
        if isinstance(value, Mapping):
            rest += [(item, secret or name in fields) for name, item in cast(Mapping[str, Any], value).items()]
        elif isinstance(value, list | tuple):
            rest += [(item, secret) for item in cast(list[Any], value)]
        elif secret and isinstance(value, str) and value:
            yield value
        elif secret and type(value) is int and value.bit_length() <= _MAX_ID_LENGTH:
            yield str(value)


def _credentials(headers: Mapping[str, str]) -> Iterator[str]:
    """The credentials in secret headers without their scheme, and the password inside Basic ones."""
    for name, value in headers.items():
        if not is_secret_name(name):
            continue
        scheme, _, credentials = value.rpartition(" ")
        yield from (part for part in (credentials, _password(scheme, credentials)) if len(part) >= _MIN_SECRET_LENGTH)


def _password(scheme: str, credentials: str) -> str:
    if scheme.strip().lower() != "basic":
        return ""
    try:
        return base64.b64decode(credentials).decode("utf-8", "replace").partition(":")[2]
    except ValueError:
        return ""


def trace_id(meta: Mapping[str, Any]) -> str | None:
    """The trace id of a W3C traceparent."""
    header = meta.get("traceparent")
    match = _TRACEPARENT.match(header) if isinstance(header, str) else None
    return match[1] if match and int(match[1], 16) else None


def correlation_id(meta: Mapping[str, Any]) -> str | None:
    """The caller's own id, unless it would break a log line."""
    sent = meta.get("correlationId")
    usable = isinstance(sent, str) and 0 < len(sent) <= _MAX_ID_LENGTH and sent.isprintable()
    return sent if usable else None
