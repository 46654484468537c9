"""The command `mcp-dice`."""

from mcp_dice.app import build
from toolcharter import run


def main() -> None:
    """Serve the dice."""
    run(build, about="Dice for your agent.")
