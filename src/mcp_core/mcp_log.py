"""Logging for tools: the TRACE level, two one-line formats, redaction, and the ids of the current call.

`get_logger` gives a logger with a `trace()` method. Other loggers are left as they are.
"""

import functools
import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar, Token
from datetime import UTC, datetime
from functools import lru_cache
from logging.handlers import WatchedFileHandler
from pathlib import Path
from types import MethodType
from typing import Any, Literal, NamedTuple, cast

from mcp_core.foreign.terminal import print_text
from mcp_core.process.start_errors import CannotStart

TRACE_LEVEL = 5
"""Below DEBUG: one line when a tool is called, and one when it has finished."""

REDACTED = "[redacted]"
MIN_LENGTH_IN_WORDS = 4
"""Secrets of fewer characters are not looked for between words."""

LogLevel = Literal["TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


class TraceLogger(logging.Logger):
    """The type of what `get_logger` returns."""

    def trace(self, msg: object, *args: object, **kwargs: Any) -> None:
        """Log at TRACE, below DEBUG."""
        if self.isEnabledFor(TRACE_LEVEL):
            kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
            self._log(TRACE_LEVEL, msg, args, **kwargs)


if logging.getLevelName(TRACE_LEVEL) == f"Level {TRACE_LEVEL}":  # not another library's name for it
    logging.addLevelName(TRACE_LEVEL, "TRACE")


def get_logger(name: str) -> TraceLogger:
    """The logger of that name, with `trace()`. No other logger changes."""
    logger: Any = logging.getLogger(name)
    if not hasattr(logger, "trace"):
        logger.trace = MethodType(TraceLogger.trace, logger)
    return cast(TraceLogger, logger)


class LogContext(NamedTuple):
    """The ids in each log line of a call, the values that must not appear in it, and who called."""

    trace_id: str
    correlation_id: str
    secrets: tuple[str, ...] = ()
    caller: str = ""
    """The key of the caller, by which what is bounded is shared. Log lines do not have it."""


_context: ContextVar[LogContext | None] = ContextVar("toolcharter_call", default=None)


set_log_context: Callable[[LogContext], Token[LogContext | None]] = _context.set
"""Sets the call that the following log lines belong to."""
reset_log_context: Callable[[Token[LogContext | None]], None] = _context.reset
"""Undoes `set_log_context`."""
current_log_context: Callable[[], LogContext | None] = _context.get
"""The call that the present log lines belong to."""


# --- redaction ---------------------------------------------------------------------------------------------

_WORDS_FOR_SECRETS = (
    "password|passwd|passphrase|pwd|secrets?|token|api[-_]?keys?|access[-_]?keys?|private[-_]?keys?"
    "|signing[-_]?keys?|encryption[-_]?keys?|authorization|auth|jwt|credentials?|cookie"
)
# A field is secret when one of its words is: `api_key`, `clientSecret`, `X-Auth-Token`; not `max_tokens`.
_SECRET_NAME = re.compile(
    rf"passw(?:or)?d|(?:^|[-_.\s])(?:{_WORDS_FOR_SECRETS})(?:$|[-_.\s])"
    r"|(?:client|app|shared)secret|(?:^|access|refresh|auth|bearer|api|session)[-_]?tokens?$",
    re.IGNORECASE,
)
_MAX_SECRET_BITS = 256
"""A secret number is shorter. A number of many thousand digits cannot be converted to text."""
_NEVER_SECRET = (bool, float)
_MAX_KEPT_NAME = 200
"""Names of fields come from callers: a cache of long ones would fill the memory."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET_TEXT = (
    (re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{4,}", re.IGNORECASE), rf"\1 {REDACTED}"),
    (re.compile(r"(://[^/\s:@]*:)[^/\s]+(@)"), rf"\1{REDACTED}\2"),
    (re.compile(r"(https?://)[^/\s:@]+(@)", re.IGNORECASE), rf"\1{REDACTED}\2"),
    (re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)(?:(?!-----).)*", re.DOTALL), rf"\1{REDACTED}"),
    (re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]*"), REDACTED),  # a JWT
    (
        # The prefixes that large services give their keys.
        re.compile(
            r"\b(?:sk-|sk_live_|sk_test_|rk_live_|gh[opusr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|pypi-"
            r"|npm_|hf_|ATATT|SG\.|dop_v1_)[A-Za-z0-9_.=-]{12,}"
        ),
        REDACTED,
    ),
    (re.compile(rf"(--(?:[a-z]+-)?(?:{_WORDS_FOR_SECRETS})\s+)[^\s-]\S*", re.IGNORECASE), rf"\1{REDACTED}"),
    (re.compile(rf"(<(?:{_WORDS_FOR_SECRETS})>)[^<]+", re.IGNORECASE), rf"\1{REDACTED}"),
    # Headers whose value has several words.
    (re.compile(r"(cookie:\s*)[^\r\n]+", re.IGNORECASE), rf"\1{REDACTED}"),
    (re.compile(r"(authorization:\s*\w+\s+)[^\s,;]+", re.IGNORECASE), rf"\1{REDACTED}"),
    (
        re.compile(
            rf"""((?:{_WORDS_FOR_SECRETS})["']?\s*[=:]\s*)"""
            rf"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?!{re.escape(REDACTED)})[^\s,;&}})\]]+)""",
            re.IGNORECASE,
        ),
        rf"\1{REDACTED}",
    ),
)


def is_secret_name(name: str) -> bool:
    """Whether a field of this name is treated as a secret."""
    return _is_secret_name(name) if len(name) <= _MAX_KEPT_NAME else _is_secret_name.__wrapped__(name)


def secret_field(form: Mapping[str, Any]) -> str | None:
    """A field of a form that asks for a password or a key. The protocol forbids it: others could see the answer."""
    properties: Any = form.get("properties")
    for name, value in cast(dict[str, Any], properties if isinstance(properties, dict) else {}).items():
        field = cast(dict[str, Any], value if isinstance(value, dict) else {})
        if is_secret_name(name) or is_secret_name(str(field.get("title", ""))) or field.get("format") == "password":
            return name
    return None


@lru_cache(maxsize=1024)
def _is_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(_CAMEL.sub("_", name)) is not None


def hide_secrets(text: str, secrets: Iterable[str]) -> str:
    """`text` without the given values.

    One that is shorter than four characters is hidden only where it stands as a value: alone, in quotes or after `=`.
    Words have the same letters, and would be blotted out.
    """
    # The longest first: a secret may be the start of another.
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        if len(secret) >= MIN_LENGTH_IN_WORDS:
            text = text.replace(secret, REDACTED)
        elif secret in text:
            value = re.escape(secret)
            text = re.sub(rf"""\A{value}\Z|(?<=(["'`])){value}(?=\1)|(?<==){value}(?!\w)""", REDACTED, text)
    return text


def redact_text(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the given values and without anything that looks like a credential."""
    text = hide_secrets(text, secrets)
    for pattern, replacement in _SECRET_TEXT:
        text = pattern.sub(replacement, text)
    return text


def redact(value: Any, secret_fields: frozenset[str] = frozenset(), secrets: tuple[str, ...] = ()) -> Any:
    """A copy of a JSON-like value without secrets."""
    if value is None or type(value) in _NEVER_SECRET:
        return value
    if type(value) is int:
        hidden = secrets and value.bit_length() <= _MAX_SECRET_BITS and str(value) in secrets
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

# Control characters break lines or control the terminal that shows them; a tab does neither.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if code != ord("\t")}
# Direction marks make a line read as another one.
_DIRECTION_MARKS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
JSON_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, *_DIRECTION_MARKS)}
_BREAKS = JSON_ESCAPES | _CONTROLS | {ord("\n"): "\\n", ord("\r"): "\\r"}
_STANDARD_FIELDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    """The fields that were passed as `extra=`, redacted."""
    fields = {key: value for key, value in record.__dict__.items() if key not in _STANDARD_FIELDS}
    context = _context.get()
    return redact(fields, secrets=context.secrets if context else ()) if fields else {}


class _RedactingFormatter(logging.Formatter):
    """One line for each record, which starts with a time, holds no secret and cannot fake another record."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 - logging's
        """The time in UTC, in ISO 8601 with its offset: the same as in the audit trail and in answers."""
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")

    def clean(self, text: str) -> str:
        context = _context.get()
        return redact_text(text, context.secrets if context else ())

    def stack(self, record: logging.LogRecord) -> str:
        return self.clean(self.formatException(record.exc_info)) if record.exc_info else ""


class TextFormatter(_RedactingFormatter):
    """`2026-07-28T10:00:00.000+00:00 INFO mcp_core.calling.pipeline trace=... correlation=... message field=value`."""

    def format(self, record: logging.LogRecord) -> str:
        context = _context.get()
        ids = f" trace={context.trace_id} correlation={context.correlation_id}" if context else ""
        as_text = functools.partial(json.dumps, default=lambda value: self.clean(str(value)), ensure_ascii=False)
        extra = "".join(f" {key}={as_text(value)}" for key, value in _extra(record).items())
        message = self.clean(record.getMessage() + extra)
        # The ids may come from the request, so they are escaped as the message is.
        line = f"{self.formatTime(record)} {record.levelname} {record.name}{ids} {message}".translate(_BREAKS)
        # Each line of a stack trace is marked, so that the text of an exception cannot fake a record.
        rows = self.stack(record).splitlines()
        return line + "".join(f"\n    | {row.translate(_BREAKS)}" for row in rows)


class JsonFormatter(_RedactingFormatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        context = _context.get()
        entry: dict[str, Any] = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": self.clean(record.getMessage()),
        }
        if context:
            entry |= {"traceId": context.trace_id, "correlationId": context.correlation_id}
        if extra := _extra(record):
            entry["fields"] = extra
        if stack := self.stack(record):
            entry["stack"] = stack
        # Values that are not JSON are redacted as text here: redacting the finished line would break its JSON.
        line = json.dumps(entry, default=lambda value: self.clean(str(value)), ensure_ascii=False)
        return line.translate(JSON_ESCAPES)


_FULL_SECONDS = 60.0


class _PrivateFileHandler(WatchedFileHandler):
    """Makes log files that only their owner can read. A disk that is full does not fill stderr too."""

    _said = -_FULL_SECONDS

    def _open(self) -> Any:
        def opener(path: str, flags: int) -> int:
            return os.open(path, flags, 0o600)

        return open(self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors, opener=opener)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's
        """Say once a minute that the disk is full; other errors are faults, and logging shows their stack."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif time.monotonic() - self._said >= _FULL_SECONDS:
            self._said = time.monotonic()
            print_text(f"The log file {self.baseFilename} cannot be written: {error.strerror}", file=sys.stderr)


def configure(level: LogLevel = "INFO", *, file: Path | None = None, as_json: bool = False) -> None:
    """Send all logs to stderr or a file, never to stdout, which is the protocol's pipe over stdio.

    The file is opened again after a log rotation has moved it. Raises CannotStart if it cannot be opened.
    """
    handler = _open_log_file(file) if file else logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # At INFO, libraries log their internals too.
    for library in ("mcp", "uvicorn", "fastmcp", "alembic", "httpx2"):
        logging.getLogger(library).setLevel(logging.WARNING if level == "INFO" else level)
    # Below INFO these log whole requests and responses, with their secrets.
    for library in ("fastmcp", "sse_starlette"):
        logger = logging.getLogger(library)
        logger.setLevel(max(logger.getEffectiveLevel(), logging.INFO))


def _open_log_file(file: Path) -> logging.Handler:
    try:
        return _PrivateFileHandler(file, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise CannotStart(
            f"The log file {str(file)!r} cannot be written: {error.strerror}. Choose another with --log-file."
        ) from None
