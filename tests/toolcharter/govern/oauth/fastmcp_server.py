"""A FastMCP server that is its own authorization server: python fastmcp_server.py PORT."""

import sys

from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.settings import ClientRegistrationOptions


def main(port: int) -> None:
    auth = InMemoryOAuthProvider(
        base_url=f"http://127.0.0.1:{port}",
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["read"]),
        required_scopes=["read"],
    )
    server = FastMCP("protected", auth=auth)

    @server.tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    server.run("http", host="127.0.0.1", port=port, show_banner=False)


if __name__ == "__main__":
    main(int(sys.argv[1]))
