"""Learning in the console: review cards by keyboard or touch, and look at what was learned.

Tests: tests/toolcharter/console/test_server_pages.py
"""

from mcp_noema.console.pages import PAGES

__all__ = ["PAGES"]
