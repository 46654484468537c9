"""A call from its first step to its record: ids, log context and span at the beginning, the record at the end."""

import sys
import time
from typing import TYPE_CHECKING

from mcp_core.calling.bound import UNKNOWN, BoundTool
from mcp_core.calling.records import Call, Request
from mcp_core.calling.stages.observe import log_context, observe
from mcp_core.calling.stages.record import CallRecord, Recorder, begin, logger, record
from mcp_core.logs.telemetry import Telemetry, end_span
from mcp_core.mcp_log import reset_log_context, set_log_context

if TYPE_CHECKING:
    from opentelemetry.trace import Span


class Recording(CallRecord):
    """Steps 2 and 12 around a call. It is recorded exactly once, also when it is cancelled."""

    call: Call
    _span: "Span | None" = None

    def __init__(self, recorder: Recorder, request: Request, tool: BoundTool) -> None:
        """Begin it. `end` must follow, whatever happens."""
        self._recorder = recorder
        self.began = self.started = time.perf_counter()
        if recorder.telemetry.traced:
            self._span = self._enter_span(recorder.telemetry, request, tool)
        recorder.telemetry.in_flight += 1
        # As `Shares.take` and `give_back` do, without entering a function for each.
        self._held = held = recorder.shares.held
        caller = request.caller.key
        held[caller] = held.get(caller, 0) + 1
        self.call = observe(request, tool, self._span, recorder.clock())
        self._token = set_log_context(log_context(self.call))
        if tool.deprecated or logger.isEnabledFor(recorder.level):
            begin(self.call, recorder.level)

    def end(self) -> None:
        """Record the call."""
        recorder = self._recorder
        record(self.call, self, time.perf_counter() - self.started, recorder)
        reset_log_context(self._token)
        recorder.telemetry.in_flight -= 1
        held, caller = self._held, self.call.request.caller.key
        if held[caller] == 1:
            del held[caller]
        else:
            held[caller] -= 1
        if self._span is not None:
            error_type = self.failure.error_type if self.failure else None
            end_span(self._span, self.outcome, cached=self.cached, error_type=error_type)
            self._span_scope.__exit__(*sys.exc_info())

    def _enter_span(self, telemetry: Telemetry, request: Request, tool: BoundTool) -> "Span":
        category = None if tool.final_name == UNKNOWN else tool.spec.category
        self._span_scope = telemetry.span(tool.spec.name, category, request.meta)
        return self._span_scope.__enter__()
