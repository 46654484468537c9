"""Prompts and resources of other servers: they are listed anew for each request, and passed on as they came."""

from abc import ABC, abstractmethod

from mcp_core.calling.library import Library
from mcp_core.calling.records import Request
from mcp_core.json_text import JsonObject


class LiveLibrary(Library, ABC):
    """Answers with what the protocol has on the wire. Recording and the gates are those of every library."""

    @abstractmethod
    async def answer(self, method: str, params: JsonObject, request: Request) -> JsonObject:
        """The result of a list, a read, `prompts/get` or `completion/complete`. Raises Refused."""
