"""The collection of declared tools: importing a module fills it, and a server that registers them empties it."""

import threading
from collections.abc import Callable
from typing import Any

from mcp_core.declare.spec import declaration_of


class DeclaredTools:
    """The tools that were declared since they were last taken, by name."""

    def __init__(self) -> None:
        self._tools: dict[str, Callable[..., Any]] = {}
        # For threads and, since nothing is awaited while it is held, for coroutines.
        self._guard = threading.Lock()

    def add(self, function: Callable[..., Any]) -> None:
        """Add a tool under the name that it declares, or else that of the function."""
        declared = declaration_of(function)
        name = (declared.name if declared else None) or getattr(function, "__name__", "")
        with self._guard:
            self._tools[name] = function

    def take(self) -> dict[str, Callable[..., Any]]:
        """All tools; the collection is empty afterwards."""
        with self._guard:
            tools = dict(self._tools)
            self._tools.clear()
        return tools


DECLARED_TOOLS = DeclaredTools()
"""Those of this process."""
