"""A circuit breaker: an upstream that fails again and again is left alone for a while, and its callers do not wait."""

from time import monotonic

from mcp_core.text.plurals import count
from toolcharter.govern.upstream.errors import UpstreamUnavailable

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 60.0


class Breaker:
    """Closed while calls are answered, open for a growing pause after failures; then one caller tries again."""

    def __init__(self) -> None:
        self._failures, self._retry_at = 0, 0.0
        self.problem: str | None = None
        """Why the last try failed; None once the upstream can be reached again."""

    def check(self) -> None:
        """Raise UpstreamUnavailable at once while it is open."""
        left = self._retry_at - monotonic()
        if left > 0:
            raise UpstreamUnavailable(f"{self.problem} It is tried again in {count(max(1, round(left)), 'second')}.")

    def fail(self, problem: str, *, tolerated: int = 0) -> None:
        """Count a failure in a row. Beyond those that are tolerated, each one opens it for twice as long."""
        self._failures += 1
        self.problem = problem
        if self._failures > tolerated:
            pause = min(FIRST_PAUSE_SECONDS * 2 ** (self._failures - tolerated - 1), MAX_PAUSE_SECONDS)
            self._retry_at = monotonic() + pause
