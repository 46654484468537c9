"""The person behind a call, whom an upstream may ask something while it answers."""

from typing import Protocol

from mcp_core.hosts.names import METHOD_NOT_FOUND
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.upstream.errors import UpstreamRefused


class Person(Protocol):
    """Answers for one call."""

    @property
    def capabilities(self) -> JsonObject:
        """The capabilities of the client of this call, for an upstream that learns them with each request."""
        ...

    @property
    def owner(self) -> str:
        """Identifies the person, among others who use the same upstream."""
        ...

    async def answer(self, method: str, params: JsonObject) -> JsonObject:
        """The result of a request of the upstream. Raises UpstreamRefused."""
        ...

    async def answer_all(self, requests: JsonObject) -> JsonObject:
        """The results of the requests that an upstream returned in place of an answer, by the same names."""
        ...


class _Nobody:
    """For calls behind which nobody is."""

    owner = ""

    @property
    def capabilities(self) -> JsonObject:
        return {}

    async def answer(self, method: str, params: JsonObject) -> JsonObject:
        del params
        raise UpstreamRefused(METHOD_NOT_FOUND, "Method not found", method)

    async def answer_all(self, requests: JsonObject) -> JsonObject:
        del requests
        raise UpstreamRefused(METHOD_NOT_FOUND, "the server asks a question, and nobody can be asked")


NOBODY: Person = _Nobody()
