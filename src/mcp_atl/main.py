"""The command `mcp-atl`."""

from mcp_atl.app import build
from toolcharter import run


def main() -> None:
    """Serve Jira and Confluence."""
    run(build, about="Jira and Confluence through one schema.")
