"""Metrics and spans. The log itself is `mcp_core.mcp_log`."""
