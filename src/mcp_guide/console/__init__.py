"""The documents in the console: browse, search and read them as people and as agents do. It works without scripts.

Tests: tests/toolcharter/console/test_server_pages.py
"""

from mcp_guide.console.pages import PAGES

__all__ = ["PAGES"]
