"""Logging for tools: the TRACE level, two one-line formats, redaction, and the ids of the call at hand.

Importing this module gives every logger a `trace()` method.
"""

import json
import logging
import re
import sys
from collections.abc import Iterable, Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any, Literal, cast

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


@dataclass(frozen=True, slots=True)
class CallMark:
    """What every log line of one call carries, and the values it must never show."""

    trace_id: str
    correlation_id: str
    secrets: tuple[str, ...] = ()


_mark: ContextVar[CallMark | None] = ContextVar("toolcharter_call", default=None)


def mark_call(mark: CallMark) -> Token[CallMark | None]:
    """Make `mark` the call that the following log lines belong to."""
    return _mark.set(mark)


def unmark_call(token: Token[CallMark | None]) -> None:
    """Undo `mark_call`."""
    _mark.reset(token)


# --- redaction ---------------------------------------------------------------------------------------------

_NAMES_OF_SECRETS = (
    "password|passwd|passphrase|pwd|secret|token|apikey|api[-_]?key|access[-_]?key|private[-_]?key"
    "|authorization|credentials?|cookie"
)
# A field is secret when one of its words is: `api_key`, `clientSecret`, `X-Auth-Token`; not `max_tokens`.
_SECRET_NAME = re.compile(rf"(?:^|[-_.\s])(?:{_NAMES_OF_SECRETS})(?:$|[-_.\s])", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET_TEXT = (
    (re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{4,}", re.IGNORECASE), rf"\1 {REDACTED}"),
    (re.compile(r"(://[^/\s:@]+:)[^/\s@]+(@)"), rf"\1{REDACTED}\2"),
    (
        re.compile(
            rf"""((?:\b|_)(?:{_NAMES_OF_SECRETS})["']?\s*[=:]\s*)("[^"]*"|'[^']*'|(?!{re.escape(REDACTED)})[^\s,;&}})\]]+)""",
            re.IGNORECASE,
        ),
        rf"\1{REDACTED}",
    ),
)


def is_secret_name(name: str) -> bool:
    """Whether a field of this name is taken for a secret."""
    return _SECRET_NAME.search(_CAMEL.sub("_", name)) is not None


def redact_text(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` with the given values, and whatever looks like a credential, blotted out."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    for pattern, replacement in _SECRET_TEXT:
        text = pattern.sub(replacement, text)
    return text


def redact(value: Any, secret_fields: frozenset[str] = frozenset()) -> Any:
    """A copy of a JSON-like value in which no secret can be read."""
    if isinstance(value, Mapping):
        return {
            key: REDACTED if key in secret_fields or is_secret_name(str(key)) else redact(item, secret_fields)
            for key, item in cast(Mapping[Any, Any], value).items()
        }
    if isinstance(value, list | tuple):
        return [redact(item, secret_fields) for item in cast(list[Any], value)]
    return redact_text(value) if isinstance(value, str) else value


# --- formats -----------------------------------------------------------------------------------------------

_BREAKS = {ord("\n"): "\\n", ord("\r"): "\\r", 0x2028: "\\u2028", 0x2029: "\\u2029", 0x85: "\\x85", 0x1B: "\\x1b"}
_STANDARD_FIELDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    """The fields the caller passed as `extra=`, redacted."""
    fields = {key: value for key, value in record.__dict__.items() if key not in _STANDARD_FIELDS}
    return redact(fields) if fields else {}


class _RedactingFormatter(logging.Formatter):
    """One record, one line that starts with a time; nothing secret; nothing that fakes another record."""

    default_msec_format = "%s.%03d"

    def clean(self, text: str) -> str:
        mark = _mark.get()
        return redact_text(text, mark.secrets if mark else ())

    def stack(self, record: logging.LogRecord) -> str:
        return self.clean(self.formatException(record.exc_info)) if record.exc_info else ""


class TextFormatter(_RedactingFormatter):
    """`2026-07-28 10:00:00.000 INFO mcp_core.pipeline trace=... correlation=... message field=value`."""

    def format(self, record: logging.LogRecord) -> str:
        mark = _mark.get()
        ids = f" trace={mark.trace_id} correlation={mark.correlation_id}" if mark else ""
        extra = "".join(
            f" {key}={json.dumps(value, default=str, ensure_ascii=False)}" for key, value in _extra(record).items()
        )
        message = self.clean(record.getMessage() + extra).translate(_BREAKS)
        line = f"{self.formatTime(record)} {record.levelname} {record.name}{ids} {message}"
        # Each line of a stack trace is marked, so that text inside an exception cannot pose as a record.
        return line + "".join(f"\n    | {row}" for row in self.stack(record).splitlines())


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
        return self.clean_json(json.dumps(entry, default=str, ensure_ascii=False))

    def clean_json(self, line: str) -> str:
        """Blot out the call's own secrets wherever a field carried them."""
        mark = _mark.get()
        for secret in mark.secrets if mark else ():
            line = line.replace(json.dumps(secret, ensure_ascii=False)[1:-1], REDACTED)
        return line.translate({0x2028: "\\u2028", 0x2029: "\\u2029", 0x85: "\\u0085"})


def configure(level: LogLevel = "INFO", *, file: Path | None = None, as_json: bool = False) -> None:
    """Send all logs to stderr or a file, never to stdout: on stdio that is the protocol's own pipe.

    The file is opened again when a log rotation has moved it away.
    """
    handler = WatchedFileHandler(file, encoding="utf-8") if file else logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # What libraries say about their own workings is for those who look for it.
    for library in ("mcp", "uvicorn", "fastmcp"):
        logging.getLogger(library).setLevel(logging.WARNING if level == "INFO" else level)
