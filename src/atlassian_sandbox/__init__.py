"""A built-in Jira and Confluence for trying and testing: it keeps its state in memory and needs no network."""

from atlassian_sandbox.app import Sandbox, sandbox_app
from atlassian_sandbox.faults import Faults

__all__ = ["Faults", "Sandbox", "sandbox_app"]
