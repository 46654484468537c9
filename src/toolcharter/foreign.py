"""Work on foreign data: its budget, and functions in processes that are ended at a deadline."""

from mcp_core.foreign.bounded import Unfinished, run_bounded, run_bounded_sync
from mcp_core.foreign.budget import TooLarge, check_length, check_size, shorten

__all__ = ["TooLarge", "Unfinished", "check_length", "check_size", "run_bounded", "run_bounded_sync", "shorten"]
