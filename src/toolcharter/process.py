"""The event loop of a command that Ctrl+C ends. Begin a command with `toolcharter.ctrl_c`, which loads nothing."""

from mcp_core.process.interrupt import run_interruptible

__all__ = ["run_interruptible"]
