"""The log, without secrets."""

from mcp_core.mcp_log import TRACE_LEVEL, get_logger, redact_text

__all__ = ["TRACE_LEVEL", "get_logger", "redact_text"]
