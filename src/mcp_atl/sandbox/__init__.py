"""A built-in Jira and Confluence for trying and testing: it keeps its state in memory and needs no network."""

from mcp_atl.sandbox.app import Sandbox, sandbox_app
from mcp_atl.sandbox.faults import Faults

__all__ = ["Faults", "Sandbox", "sandbox_app"]
