"""The list in the console: see it, add to it, complete, edit and delete. It works without scripts.

Tests: tests/toolcharter/console/test_server_pages.py
"""

from mcp_todo.console.pages import PAGES

__all__ = ["PAGES"]
