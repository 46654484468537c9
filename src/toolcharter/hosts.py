"""The records that a host of one's own exchanges with an app."""

from mcp_core.calling.records import Answer, Question, Reply, Request

__all__ = ["Answer", "Question", "Reply", "Request"]
