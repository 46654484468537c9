"""Checks of what a server depends on, for readiness."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from mcp_core.errors import ToolError
from mcp_core.state.interface import DependencyHealth

CHECK_SECONDS = 1.0
"""How long a dependency may take to answer, and how long its answer holds: probes must not become a load."""


class DependencyCheck:
    """Tries a dependency, and remembers since when it can be reached or not."""

    def __init__(
        self, name: str, probe: Callable[[], Awaitable[object]], *, needed: bool = True, seconds: float = CHECK_SECONDS
    ) -> None:
        """`probe` raises if the dependency cannot be reached. `seconds` is how long it may take.

        Without a dependency that is not `needed`, the server does less, and readiness does not try it.
        """
        self._name, self._probe, self.needed, self._seconds = name, probe, needed, seconds
        self._health = DependencyHealth(name, ok=True, since=time.time())
        self._fresh_until = 0.0
        self._lock = asyncio.Lock()

    async def run(self) -> DependencyHealth:
        """The health of the dependency, at most a second old."""
        async with self._lock:
            if time.monotonic() >= self._fresh_until:
                problem = await self._problem()
                if self._health.ok != (problem is None):
                    self._health = DependencyHealth(self._name, problem is None, time.time(), problem or "")
                self._fresh_until = time.monotonic() + CHECK_SECONDS
            return self._health

    async def _problem(self) -> str | None:
        try:
            async with asyncio.timeout(self._seconds):
                await self._probe()
        except TimeoutError:
            return f"no answer in {self._seconds:g} s"
        except ToolError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the dependency cannot be used; the text may be secret
            return type(error).__name__
        return None
