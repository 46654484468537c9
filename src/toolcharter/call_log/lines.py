"""The log lines of calls, kept until the calls are written."""

import logging
from collections import deque
from typing import NamedTuple

from mcp_core.mcp_log import LogContext, TextFormatter, current_log_context, reset_log_context, set_log_context
from toolcharter.call_log.entry import FindLines

MAX_LINES = 2000
"""Of all calls, until they are written."""
MAX_LINES_OF_CALL = 20
MAX_LINE_LENGTH = 8000
"""With the stack."""


class _Line(NamedTuple):
    context: LogContext
    record: logging.LogRecord


class CallLines(logging.Handler):
    """Keeps what is logged during calls. A line is formatted only if its call is written in full."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._lines: deque[_Line] = deque(maxlen=MAX_LINES)
        self._text = TextFormatter()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record that belongs to a call."""
        context = current_log_context()
        if context is not None:
            self._lines.append(_Line(context, record))

    def take(self) -> FindLines:
        """All lines so far, as a function that finds those of a call as text without secrets."""
        taken: dict[tuple[str, str], list[_Line]] = {}
        while self._lines:
            line = self._lines.popleft()
            taken.setdefault((line.context.trace_id, line.context.correlation_id), []).append(line)

        def find(trace_id: str, correlation_id: str) -> list[str]:
            # The last ones if there are many: they say how the call ended.
            return [self._format(line) for line in taken.get((trace_id, correlation_id), ())[-MAX_LINES_OF_CALL:]]

        return find

    def _format(self, line: _Line) -> str:
        token = set_log_context(line.context)
        try:
            text = self._text.format(line.record)
        finally:
            reset_log_context(token)
        return text if len(text) <= MAX_LINE_LENGTH else text[:MAX_LINE_LENGTH] + "..."
