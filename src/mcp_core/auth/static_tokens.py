"""Bearer tokens that a program has in memory."""

from collections.abc import Mapping

from mcp_core.auth.caller import Caller, digest

EXAMPLE = 'Write StaticTokens({"TOKEN": user("ana", ["books:read"])}); user is in toolcharter.auth.'


class StaticTokens:
    """Tokens from a mapping. Only their digests are kept in memory."""

    def __init__(self, tokens: Mapping[str, Caller]) -> None:
        """`tokens` has the caller of each token: `StaticTokens({"SECRET": user("ana", ["books:read"])})`."""
        for caller in tokens.values():
            if not isinstance(caller, Caller):  # pyright: ignore[reportUnnecessaryIsInstance] - authors may not check
                raise TypeError(f"StaticTokens: {caller!r} is not a Caller. {EXAMPLE}")
        self._callers = {digest(token): caller for token, caller in tokens.items()}

    async def verify(self, token: str) -> Caller | None:
        """Look the token up by its digest, so that timing reveals nothing about it."""
        return self._callers.get(digest(token))
