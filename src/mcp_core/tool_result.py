"""`ToolResult`: data, agent hints and metadata; the structure a hinting server answers with."""

from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any, Generic, NamedTuple, TypeVar

from mcp_core import json_text
from mcp_core.hints import AgentHints

T = TypeVar("T")

_quoted = encode_basestring


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

    def to_json_str(self) -> str:
        """The same as compact JSON text."""
        return (
            f'{{"toolVersion":{_quoted(self.tool_version)},"serviceVersion":{_quoted(self.service_version)},'
            f'"timestamp":{_quoted(self.timestamp)},"executionTime":{self.execution_time},'
            f'"traceId":{_quoted(self.trace_id)},"correlationId":{_quoted(self.correlation_id)},'
            f'"cached":{"true" if self.cached else "false"}}}'
        )


@dataclass(frozen=True, slots=True)
class ToolResult(Generic[T]):
    """What a handler of a hinting server may return; the metadata is filled in by the pipeline."""

    data: T
    agent_hints: AgentHints
    metadata: ToolMetadata | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data, as it goes over the wire."""
        fields = {"data": json_text.to_plain(self.data), "agentHints": self.agent_hints.to_json()}
        return fields | ({"metadata": self.metadata.to_json()} if self.metadata else {})
