"""Learning in the console: review cards by keyboard or touch, and look at what was learned."""

from mcp_noema.console.pages import PAGES

__all__ = ["PAGES"]
