"""The command `mcp-todo`."""

from toolcharter.ctrl_c import EndsProcess


def main() -> None:
    """Serve the todo list."""
    with EndsProcess():
        from mcp_todo.app import DESCRIPTION, build  # noqa: PLC0415 - 250 ms, with the framework
        from toolcharter import run  # noqa: PLC0415 - as above
    run(build, about=DESCRIPTION)
