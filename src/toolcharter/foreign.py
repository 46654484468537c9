"""Work on foreign data: its budget, and functions in processes that are ended at a deadline."""

from mcp_core.foreign.bounded import Unfinished, run_bounded, run_bounded_sync
from mcp_core.foreign.budget import TooLarge, check_length, check_size, shorten
from mcp_core.foreign.terminal import print_text

__all__ = [
    "TooLarge",
    "Unfinished",
    "check_length",
    "check_size",
    "print_text",
    "run_bounded",
    "run_bounded_sync",
    "shorten",
]
