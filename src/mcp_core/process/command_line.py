"""The parser of every command line, and the standard streams, some of which the parent may have closed."""

import argparse
import difflib
import os
import sys
from typing import NoReturn

from mcp_core.foreign.terminal import escape_lines


class OptionParser(argparse.ArgumentParser):
    """Answers a mistyped option with the nearest one."""

    problem: str | None = None
    """The error in the command line."""

    def error(self, message: str) -> NoReturn:
        wrong = message.removeprefix("unrecognized arguments: ").split(" ")[0] if "unrecognized" in message else ""
        nearest = difflib.get_close_matches(wrong, self._option_string_actions, n=1) if wrong else []
        self.problem = f"{message}; did you mean {nearest[0]}?" if nearest else message
        super().error(escape_lines(self.problem))


def open_closed_streams() -> None:
    """Put the null device where a standard stream is closed, for which Python has None.

    A server whose input is closed then ends at once, as at the end of its input. No other file takes the number of the
    stream either, such as a database into which a line of the log would go.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
