"""The command `mcp-guide`: serve, or `init` and `import` to begin with."""

import os
import sys
from importlib import import_module

from mcp_core.run import run
from mcp_guide.app import build
from mcp_guide.settings import PREFIX, GuideSettings

ABOUT = (
    "Your team's guidelines and documents for coding agents."
    " mcp-guide init writes a set to begin with; mcp-guide import FILE takes over a configuration of the mcp-guide"
    " project."
)
COMMANDS = {"init": "mcp_guide.init_command", "import": "mcp_guide.import_command"}


def main() -> None:
    """Serve the guide, or do what else is asked for."""
    _configure_environment()
    words = sys.argv[1:]
    if words and words[0] in COMMANDS:
        raise SystemExit(import_module(COMMANDS[words[0]]).command(words[1:]))
    run(build, about=ABOUT, settings_type=GuideSettings)


def _configure_environment() -> None:
    """Prefix the tool names, unless the person has said how; the empty text says not at all."""
    os.environ.setdefault("MCP_TOOL_PREFIX", PREFIX)
