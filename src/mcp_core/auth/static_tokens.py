"""Bearer tokens that a program has in memory."""

from collections.abc import Mapping

from mcp_core.auth.caller import Caller
from mcp_core.auth.digest import digest


class StaticTokens:
    """Tokens from a mapping. Only their digests are kept in memory."""

    def __init__(self, tokens: Mapping[str, Caller]) -> None:
        self._callers = {digest(token): caller for token, caller in tokens.items()}

    async def verify(self, token: str) -> Caller | None:
        """Look the token up by its digest, so that timing reveals nothing about it."""
        return self._callers.get(digest(token))
