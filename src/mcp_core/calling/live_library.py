"""Prompts and resources of other servers: they are listed anew for each request, and passed on as they came."""

from abc import ABC, abstractmethod
from collections.abc import Callable

from mcp_core.calling.library import Library
from mcp_core.calling.records import Request
from mcp_core.text.json_text import JsonObject

ASKING = frozenset({"prompts/get", "resources/read"})
"""The requests during which a server may ask the person something."""


class LiveLibrary(Library, ABC):
    """Answers with what the protocol has on the wire. Recording and the gates are those of every library."""

    def may_ask(self, method: str, name: str) -> bool:  # noqa: ARG002 - any of them may
        """Another server may ask during any of these requests."""
        return method in ASKING

    @property
    def is_subscribable(self) -> bool:
        return True

    @abstractmethod
    async def answer(self, method: str, params: JsonObject, request: Request) -> JsonObject:
        """The result of a list, a read, `prompts/get` or `completion/complete`. Raises Refused."""

    @abstractmethod
    async def subscribe(self, uri: str, request: Request, updated: Callable[[str], None]) -> Callable[[], None]:
        """Call `updated` when a resource changes, until the function that is returned is called. Raises Refused."""
