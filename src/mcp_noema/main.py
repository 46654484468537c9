"""The command `mcp-noema`."""

from mcp_noema.app import build
from toolcharter import run


def main() -> None:
    """Serve the learning tools."""
    run(build, about="Spaced-repetition learning through your agent.")
