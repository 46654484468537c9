"""The guide server, under the path that the guide's conventions name."""

from mcp_guide.app import build
from mcp_guide.main import main

__all__ = ["build", "main"]
