"""Metrics, spans, and their export. The log itself is `mcp_core.mcp_log`."""
