"""MCP tools that agents can rely on. These are the public names; `toolcharter --help` shows the commands."""

import mcp_core
from mcp_core import *  # noqa: F403 - one list of public names, that of the framework
from mcp_core.run import run

__all__ = ["run"]
__all__ += mcp_core.__all__
