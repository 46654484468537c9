"""Observations of calls of the tools of a server."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from mcp_core.declare.listed import ListedTool

if TYPE_CHECKING:
    from mcp_core.calling.records import Answer

CallKind = Literal["valid", "missing", "wrong type", "unknown"]
"""A valid call, or one without a required argument, with a value of the wrong type, or with an unknown argument."""


class Exchange(NamedTuple):
    """One call, and its result."""

    tool: str
    kind: CallKind
    arguments: Mapping[str, Any]
    argument: str = ""
    """The argument that was wrong."""
    answer: "Answer | None" = None
    failure: str = ""
    """Why there is no result."""
    timed_out: bool = False

    @property
    def is_invalid(self) -> bool:
        """Whether the call should have been rejected."""
        return self.kind != "valid"

    @property
    def is_rejected(self) -> bool:
        """Whether the call failed, in whatever way."""
        return self.answer is None or self.answer.is_error

    @property
    def call(self) -> str:
        """The call in words."""
        if self.kind == "missing":
            return f"a call without {self.argument!r}"
        if self.kind == "wrong type":
            return f"a call with {self.argument!r} of the wrong type"
        return f"a call with an unknown {self.argument!r}" if self.kind == "unknown" else "a valid call"

    @property
    def json_object(self) -> Mapping[str, Any]:
        """The result as a JSON object; empty if it is something else."""
        try:
            value = json.loads(self.answer.text) if self.answer else None
        except (ValueError, RecursionError):
            return {}
        return cast(dict[str, Any], value) if isinstance(value, dict) else {}


@dataclass(frozen=True)
class Observations:
    """Everything that was observed of a server."""

    exchanges: Sequence[Exchange] = ()
    lists: Sequence[Sequence[ListedTool]] = ()
    """The tools, each time they were listed."""
    last_before_crash: Exchange | None = None
    """The call after which the server no longer answered."""
    timeout: float = 0.0
    """The time limit of a call, in seconds."""
    called: frozenset[str] = frozenset()
    """The tools that were called and can be judged."""
    unjudged: Mapping[str, str] = field(default_factory=dict[str, str])
    """The tools of which a valid call failed for a reason outside the server, with its error."""
    command: Sequence[str] = ()
    """The command line of the server. What is written there is not a secret."""
    ran_out_of_time: bool = False
    """Whether tools were left out because all calls together took too long."""

    def by_tool(self) -> Iterator[tuple[str, list[Exchange]]]:
        """The exchanges of each tool that was called."""
        grouped: dict[str, list[Exchange]] = {}
        for exchange in self.exchanges:
            grouped.setdefault(exchange.tool, []).append(exchange)
        return iter(grouped.items())
