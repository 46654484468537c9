"""One HTTP port for several apps: their MCP endpoints, a page, health and metrics."""
