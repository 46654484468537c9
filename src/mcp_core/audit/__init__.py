"""The audit trail: one record for everything that arrives, in a hash chain, in a file or in a database."""

from mcp_core.audit.chain import read_key
from mcp_core.audit.trail import AuditTrail, FailurePolicy
from mcp_core.audit.verify import TrailProblem, TrailReport, verify

__all__ = ["AuditTrail", "FailurePolicy", "TrailProblem", "TrailReport", "read_key", "verify"]
