"""The command `mcp-noema`."""

from mcp_noema.app import DESCRIPTION, build
from toolcharter import run


def main() -> None:
    """Serve the learning tools."""
    run(build, about=DESCRIPTION)
