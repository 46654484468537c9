"""A call as it is kept."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

FAILURES = frozenset({"validation", "business", "system"})
"""The outcomes that count as errors. A call that was cancelled, or that waits for a person, has not failed."""


class CallEntry(NamedTuple):
    """A call in full. No value in it is secret."""

    time: float
    server: str
    tool: str
    caller: str
    agent: str
    outcome: str
    ms: float
    tokens: int
    cached: bool
    trace_id: str
    correlation_id: str
    error_type: str | None
    error: str | None
    error_id: str | None
    details: Mapping[str, Any]
    """`arguments`, `steps` (milliseconds by step), `lines` of the log, and what only some calls have."""
    id: int = 0
    """The place in the order in which calls were written."""

    def to_json(self) -> dict[str, Any]:
        """The members as the console reads them."""
        return self._asdict()


class CallFilter(NamedTuple):
    """Which calls are wanted. None stands for all."""

    visible: tuple[tuple[str, str | None], ...] | None = None
    """The servers whose calls may be seen, each with the only caller whose calls may be seen, or None."""
    server: str | None = None
    tool: str | None = None
    caller: str | None = None
    outcomes: tuple[str, ...] | None = None
    text: str | None = None
    """Found in a name, an error or an argument, or one of the ids."""

    def matches(self, entry: CallEntry) -> bool:
        """Whether a call is wanted, as the store would find it."""
        return (
            self.allows(entry)
            and self.server in (None, entry.server)
            and self.tool in (None, entry.tool)
            and self.caller in (None, entry.caller)
            and (self.outcomes is None or entry.outcome in self.outcomes)
            and (not self.text or self._contains(entry, self.text.lower()))
        )

    def allows(self, entry: CallEntry) -> bool:
        """Whether a call may be seen."""
        return self.visible is None or any(
            server == entry.server and caller in (None, entry.caller) for server, caller in self.visible
        )

    def _contains(self, entry: CallEntry, words: str) -> bool:
        ids = (entry.trace_id, entry.correlation_id, entry.error_id)
        texts = (entry.tool, entry.caller, entry.agent, entry.error_type or "", entry.error or "")
        details = json.dumps(entry.details, ensure_ascii=False)
        return self.text in ids or any(words in text.lower() for text in (*texts, details))


FindLines = Callable[[str, str], list[str]]
"""The lines of the log that were written during a call, by its trace id and its correlation id."""
