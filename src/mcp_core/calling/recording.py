"""A call from its first step to its record: ids, log context and span at the beginning, the record at the end."""

import time
from types import TracebackType
from typing import TYPE_CHECKING

from mcp_core.calling.bound import UNKNOWN, BoundTool
from mcp_core.calling.records import Call, Request
from mcp_core.calling.stages.observe import log_context, observe
from mcp_core.calling.stages.record import CallRecord, Recorder, begin, record
from mcp_core.logs.telemetry import Telemetry, end_span
from mcp_core.mcp_log import reset_log_context, set_log_context

if TYPE_CHECKING:
    from opentelemetry.trace import Span


class Recording(CallRecord):
    """Steps 2 and 12 around a call. It is recorded exactly once, also when it is cancelled."""

    call: Call
    _span: "Span | None" = None

    def __init__(self, recorder: Recorder, request: Request, tool: BoundTool) -> None:
        self._recorder, self._request, self._tool = recorder, request, tool

    def __enter__(self) -> "Recording":
        recorder = self._recorder
        self.began = self.started = time.perf_counter()
        if recorder.telemetry.traced:
            self._span = self._enter_span(recorder.telemetry)
        recorder.telemetry.in_flight += 1
        self.call = observe(self._request, self._tool, self._span, recorder.clock())
        self._token = set_log_context(log_context(self.call))
        begin(self.call, recorder.level)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        recorder = self._recorder
        record(self.call, self, time.perf_counter() - self.started, recorder)
        reset_log_context(self._token)
        recorder.telemetry.in_flight -= 1
        if self._span is not None:
            error_type = self.failure.error_type if self.failure else None
            end_span(self._span, self.outcome, cached=self.cached, error_type=error_type)
            self._span_scope.__exit__(kind, error, trace)

    def _enter_span(self, telemetry: Telemetry) -> "Span":
        spec = self._tool.spec
        category = None if self._tool.final_name == UNKNOWN else spec.category
        self._span_scope = telemetry.span(spec.name, category, self._request.meta)
        return self._span_scope.__enter__()
