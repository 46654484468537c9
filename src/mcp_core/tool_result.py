"""`ToolResult`: data, agent hints and metadata; the structure a hinting server answers with."""

from dataclasses import dataclass
from json.encoder import encode_basestring as quoted
from typing import Any, Generic, NamedTuple, TypeVar

from mcp_core.context import ToolContext
from mcp_core.hints import AgentHints
from mcp_core.text import json_text

T = TypeVar("T")


class ToolMetadata(NamedTuple):
    """When and by which versions an answer was made, and how long it took."""

    tool_version: str
    service_version: str
    timestamp: str
    execution_time: float
    trace_id: str
    correlation_id: str
    cached: bool = False

    def to_json(self) -> dict[str, Any]:
        """The documented field names."""
        return {
            "toolVersion": self.tool_version,
            "serviceVersion": self.service_version,
            "timestamp": self.timestamp,
            "executionTime": self.execution_time,
            "traceId": self.trace_id,
            "correlationId": self.correlation_id,
            "cached": self.cached,
        }


def versions_json(tool_version: str, service_version: str) -> str:
    """The first members of the metadata as JSON text, the same in all answers of a tool."""
    return f'"toolVersion":{quoted(tool_version)},"serviceVersion":{quoted(service_version)}'


def metadata_json(versions: str, context: ToolContext, seconds: float, *, cached: bool, lean: bool = False) -> str:
    """The result of `ToolMetadata.to_json` as JSON text, for an answer that is being made. A lean one has no ids."""
    ids = "" if lean else f'"traceId":"{context.trace_id}","correlationId":{quoted(context.correlation_id)},'
    return (
        f'{{{versions},"timestamp":"{context.timestamp}","executionTime":{seconds * 1000:.3f},'
        f'{ids}"cached":{"true" if cached else "false"}}}'
    )


@dataclass(frozen=True, slots=True)
class ToolResult(Generic[T]):
    """The result of a handler of a server with hints; the pipeline fills in the metadata."""

    data: T
    agent_hints: AgentHints
    metadata: ToolMetadata | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data, as it goes over the wire."""
        fields = {"data": json_text.to_plain(self.data), "agentHints": self.agent_hints.to_json()}
        return fields | ({"metadata": self.metadata.to_json()} if self.metadata else {})
