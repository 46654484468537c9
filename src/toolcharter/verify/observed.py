"""What was seen when a server's tools were called: each call with its answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from mcp_core.calling.records import Answer
from mcp_core.declare.listed import ListedTool

Kind = Literal["valid", "missing", "wrong type", "unknown"]
"""What was sent: a call as it should be, or one without a required argument, with a wrong type, with one too many."""


class Exchange(NamedTuple):
    """One call, and what came of it."""

    tool: str
    kind: Kind
    arguments: Mapping[str, Any]
    argument: str = ""
    """The argument that was wrong."""
    answer: Answer | None = None
    failure: str = ""
    """Why there is no answer."""
    timed_out: bool = False

    @property
    def is_faulty(self) -> bool:
        """Whether the call should have been refused."""
        return self.kind != "valid"

    @property
    def is_refused(self) -> bool:
        """Whether the server said no, in whatever way."""
        return self.answer is None or self.answer.is_error

    @property
    def sent(self) -> str:
        """What was sent, in words."""
        if self.kind == "missing":
            return f"a call without {self.argument!r}"
        if self.kind == "wrong type":
            return f"a call with {self.argument!r} of a wrong type"
        return f"a call with an unknown {self.argument!r}" if self.kind == "unknown" else "a valid call"

    @property
    def document(self) -> Mapping[str, Any]:
        """The answer's JSON object; empty where it is none."""
        try:
            read = json.loads(self.answer.text) if self.answer else None
        except (ValueError, RecursionError):
            return {}
        return cast(dict[str, Any], read) if isinstance(read, dict) else {}


@dataclass(frozen=True)
class Observed:
    """All that was seen of a server."""

    exchanges: Sequence[Exchange] = ()
    lists: Sequence[Sequence[ListedTool]] = ()
    """The tools, each time the server was asked for them."""
    gone: Exchange | None = None
    """The call after which the server did not answer any more."""
    lasting: float = 0.0
    """How many seconds a call had."""

    def by_tool(self) -> Iterator[tuple[str, list[Exchange]]]:
        """The exchanges of each tool that was called."""
        grouped: dict[str, list[Exchange]] = {}
        for exchange in self.exchanges:
            grouped.setdefault(exchange.tool, []).append(exchange)
        return iter(grouped.items())
