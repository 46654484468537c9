"""Start one server for a client, over stdin and stdout.

It is the same as the server's own command, if it has one: `toolcharter stdio todo` is `mcp-todo stdio`.
"""

import argparse

from toolcharter.commands import server_command
from toolcharter.commands.server_command import add_arguments

__all__ = ["add_arguments", "run"]


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    return server_command.start("stdio", options)
