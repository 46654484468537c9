"""A confirmation that waits, and its answer."""

import json
from typing import Any, NamedTuple


class Waiting(NamedTuple):
    """A call that waits for a person. No value in it is secret."""

    id: str
    server: str
    tool: str
    question: str
    arguments: Any
    target: str
    caller: str
    agent: str
    asked: float
    expires: float
    """Both in seconds since the epoch."""
    trace_id: str
    correlation_id: str
    is_held: bool
    """Whether the call waits for the answer. If not, the client has the question, and calls again."""


class Verdict(NamedTuple):
    """The answer to a confirmation."""

    accepted: bool
    by: str | None = None
    """The key of the caller who answered in the console; None if the client brought the answer."""

    def to_text(self) -> str:
        """The answer as the shared store keeps it."""
        return json.dumps(self)

    @classmethod
    def parse(cls, text: str) -> "Verdict":
        """The opposite of `to_text`."""
        return cls(*json.loads(text))
