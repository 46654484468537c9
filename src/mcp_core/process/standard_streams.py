"""The standard streams of a process, some of which its parent may have closed."""

import os
import sys


def open_closed_streams() -> None:
    """Put the null device where a standard stream is closed, for which Python has None.

    A server whose input is closed then ends at once, as at the end of its input. No other file takes the number of the
    stream either, such as a database into which a line of the log would go.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
