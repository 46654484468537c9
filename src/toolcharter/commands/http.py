"""Start one server over HTTP.

It is the same as the server's own command, if it has one: `toolcharter http todo` is `mcp-todo http`.
"""

import argparse

from toolcharter.commands import server_command
from toolcharter.commands.server_command import add_arguments

__all__ = ["add_arguments", "run"]


def run(options: argparse.Namespace) -> int:
    """Serve until a signal."""
    return server_command.start("http", options)
