"""Logging for tools: the TRACE level, two one-line formats, redaction, and the ids of the call at hand.

Importing this module gives every logger a `trace()` method.
"""

import functools
import json
import logging
import re
import sys
from collections.abc import Iterable, Mapping
from contextvars import ContextVar, Token
from functools import lru_cache
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

TRACE_LEVEL = 5
"""Below DEBUG: one line when a tool is called and one when it has finished."""

REDACTED = "[redacted]"

LogLevel = Literal["TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


class TraceLogger(logging.Logger):
    """What `get_logger` returns, as type checkers see it."""

    def trace(self, msg: object, *args: object, **kwargs: Any) -> None:
        """Log at TRACE, below DEBUG."""
        if self.isEnabledFor(TRACE_LEVEL):
            kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
            self._log(TRACE_LEVEL, msg, args, **kwargs)


logging.addLevelName(TRACE_LEVEL, "TRACE")
# Loggers made before this import, or by other libraries, get the method too.
logging.Logger.trace = TraceLogger.trace  # pyright: ignore[reportAttributeAccessIssue]


def get_logger(name: str) -> TraceLogger:
    """The logger of that name, with `trace()`."""
    return cast(TraceLogger, logging.getLogger(name))


class LogContext(NamedTuple):
    """What every log line of one call carries, and the values it must never show."""

    trace_id: str
    correlation_id: str
    secrets: tuple[str, ...] = ()


_mark: ContextVar[LogContext | None] = ContextVar("toolcharter_call", default=None)


def set_log_context(mark: LogContext) -> Token[LogContext | None]:
    """Make `mark` the call that the following log lines belong to."""
    return _mark.set(mark)


def reset_log_context(token: Token[LogContext | None]) -> None:
    """Undo `set_log_context`."""
    _mark.reset(token)


# --- redaction ---------------------------------------------------------------------------------------------

_NAMES_OF_SECRETS = (
    "password|passwd|passphrase|pwd|secrets?|token|api[-_]?keys?|access[-_]?keys?|private[-_]?keys?"
    "|authorization|credentials?|cookie"
)
# A field is secret when one of its words is: `api_key`, `clientSecret`, `X-Auth-Token`; not `max_tokens`.
_SECRET_NAME = re.compile(rf"passw(?:or)?d|(?:^|[-_.\s])(?:{_NAMES_OF_SECRETS})(?:$|[-_.\s])", re.IGNORECASE)
_LONGEST_NUMBER = 256
_HARMLESS = (bool, float)
"""In bits: a secret is shorter, and a number of many thousand digits cannot be written out."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET_TEXT = (
    (re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{4,}", re.IGNORECASE), rf"\1 {REDACTED}"),
    (re.compile(r"(://[^/\s:@]*:)[^/\s]+(@)"), rf"\1{REDACTED}\2"),
    (re.compile(r"(https?://)[^/\s:@]+(@)", re.IGNORECASE), rf"\1{REDACTED}\2"),
    # Headers whose value has several words.
    (re.compile(r"(cookie:\s*)[^\r\n]+", re.IGNORECASE), rf"\1{REDACTED}"),
    (re.compile(r"(authorization:\s*\w+\s+)[^\s,;]+", re.IGNORECASE), rf"\1{REDACTED}"),
    (
        re.compile(
            rf"""((?:{_NAMES_OF_SECRETS})["']?\s*[=:]\s*)"""
            rf"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?!{re.escape(REDACTED)})[^\s,;&}})\]]+)""",
            re.IGNORECASE,
        ),
        rf"\1{REDACTED}",
    ),
)


@lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Whether a field of this name is taken for a secret."""
    return _SECRET_NAME.search(_CAMEL.sub("_", name)) is not None


def redact_text(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` with the given values, and whatever looks like a credential, blotted out."""
    # The longest first: a secret may be the beginning of another.
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, REDACTED)
    for pattern, replacement in _SECRET_TEXT:
        text = pattern.sub(replacement, text)
    return text


def redact(value: Any, secret_fields: frozenset[str] = frozenset(), secrets: tuple[str, ...] = ()) -> Any:
    """A copy of a JSON-like value in which no secret can be read."""
    if value is None or type(value) in _HARMLESS:
        return value
    if type(value) is int:
        hidden = secrets and value.bit_length() <= _LONGEST_NUMBER and str(value) in secrets
        return REDACTED if hidden else value
    if isinstance(value, Mapping):
        return {
            key: REDACTED if key in secret_fields or is_secret_name(str(key)) else redact(item, secret_fields, secrets)
            for key, item in cast(Mapping[Any, Any], value).items()
        }
    if isinstance(value, list | tuple):
        return [redact(item, secret_fields, secrets) for item in cast(list[Any], value)]
    return redact_text(value, secrets) if isinstance(value, str) else value


# --- formats -----------------------------------------------------------------------------------------------

# Control characters break a line, or steer the terminal that shows it; a tab does neither.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if code != ord("\t")}
_BREAKS = _CONTROLS | {ord("\n"): "\\n", ord("\r"): "\\r", 0x2028: "\\u2028", 0x2029: "\\u2029"}
_STANDARD_FIELDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    """The fields the caller passed as `extra=`, redacted."""
    fields = {key: value for key, value in record.__dict__.items() if key not in _STANDARD_FIELDS}
    mark = _mark.get()
    return redact(fields, secrets=mark.secrets if mark else ()) if fields else {}


class _RedactingFormatter(logging.Formatter):
    """One record, one line that starts with a time; nothing secret; nothing that fakes another record."""

    default_msec_format = "%s.%03d"

    def clean(self, text: str) -> str:
        mark = _mark.get()
        return redact_text(text, mark.secrets if mark else ())

    def stack(self, record: logging.LogRecord) -> str:
        return self.clean(self.formatException(record.exc_info)) if record.exc_info else ""


class TextFormatter(_RedactingFormatter):
    """`2026-07-28 10:00:00.000 INFO mcp_core.calling.pipeline trace=... correlation=... message field=value`."""

    def format(self, record: logging.LogRecord) -> str:
        mark = _mark.get()
        ids = f" trace={mark.trace_id} correlation={mark.correlation_id}" if mark else ""
        as_text = functools.partial(json.dumps, default=lambda value: self.clean(str(value)), ensure_ascii=False)
        extra = "".join(f" {key}={as_text(value)}" for key, value in _extra(record).items())
        message = self.clean(record.getMessage() + extra)
        # The ids may come from the request, so they are no safer than the message.
        line = f"{self.formatTime(record)} {record.levelname} {record.name}{ids} {message}".translate(_BREAKS)
        # Each line of a stack trace is marked, so that text inside an exception cannot pose as a record.
        rows = self.stack(record).splitlines()
        return line + "".join(f"\n    | {row.translate(_BREAKS)}" for row in rows)


class JsonFormatter(_RedactingFormatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        mark = _mark.get()
        entry: dict[str, Any] = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": self.clean(record.getMessage()),
        }
        if mark:
            entry |= {"traceId": mark.trace_id, "correlationId": mark.correlation_id}
        if extra := _extra(record):
            entry["fields"] = extra
        if stack := self.stack(record):
            entry["stack"] = stack
        # What is no JSON becomes text, and is cleaned as text: blotting out in the finished line would break it.
        line = json.dumps(entry, default=lambda value: self.clean(str(value)), ensure_ascii=False)
        return line.translate({0x2028: "\\u2028", 0x2029: "\\u2029", 0x85: "\\u0085"})


def configure(level: LogLevel = "INFO", *, file: Path | None = None, as_json: bool = False) -> None:
    """Send all logs to stderr or a file, never to stdout: on stdio that is the protocol's own pipe.

    The file is opened again when a log rotation has moved it away.
    """
    handler = (
        WatchedFileHandler(file, encoding="utf-8", errors="backslashreplace")
        if file
        else logging.StreamHandler(sys.stderr)
    )
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # What libraries say about their own workings is for those who look for it.
    for library in ("mcp", "uvicorn", "fastmcp", "alembic"):
        logging.getLogger(library).setLevel(logging.WARNING if level == "INFO" else level)
    # Below INFO these write down whole requests and answers as they are, secrets and all.
    for library in ("fastmcp", "sse_starlette"):
        logger = logging.getLogger(library)
        logger.setLevel(max(logger.getEffectiveLevel(), logging.INFO))
