"""The clients to notify when the person has finished at an address of an upstream."""

from collections import OrderedDict

from mcp_core.context import NotifyComplete

MAX_WAITING = 1000
"""Of all callers. Those that have waited longest are forgotten: many upstreams never say that somebody has finished."""


class Completions:
    """The clients to notify, by the key of the connection and the id that the upstream gave its question."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[str, str], list[NotifyComplete]] = OrderedDict()

    def add(self, key: str, number: str, notify: NotifyComplete) -> None:
        """Notify a client of it, when it happens."""
        self._waiting.setdefault((key, number), []).append(notify)
        if len(self._waiting) > MAX_WAITING:
            self._waiting.popitem(last=False)

    def take(self, key: str, number: str) -> list[NotifyComplete]:
        """The clients to notify, once. Those of other connections are not among them."""
        return self._waiting.pop((key, number), [])
