"""The command `mcp-todo`."""

from mcp_todo.app import DESCRIPTION, build
from toolcharter import run


def main() -> None:
    """Serve the todo list."""
    run(build, about=DESCRIPTION)
