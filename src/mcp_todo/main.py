"""The command `mcp-todo`."""

from mcp_todo.app import build
from toolcharter import run


def main() -> None:
    """Serve the todo list."""
    run(build, about="A todo list for your agent.")
