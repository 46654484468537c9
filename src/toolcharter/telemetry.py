"""Metrics and traces."""

from mcp_core.logs.telemetry import Telemetry, child_span, is_traced, trace_headers

__all__ = ["Telemetry", "child_span", "is_traced", "trace_headers"]
