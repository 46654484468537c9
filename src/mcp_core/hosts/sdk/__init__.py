"""The MCP SDK as a host: everything that the fast lane does not answer."""
