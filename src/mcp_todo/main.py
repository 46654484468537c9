"""The command `mcp-todo`."""

from mcp_core.run import run
from mcp_todo.app import build


def main() -> None:
    """Serve the todo list."""
    run(build, about="A todo list for your agent.")
