"""Bearer tokens that an operator gives out."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from mcp_core.auth.caller import Caller, is_user_name, user
from mcp_core.start_errors import InvalidSetting


class StaticTokens:
    """Tokens from a file or a mapping. Only their digests are kept in memory."""

    def __init__(self, tokens: Mapping[str, Caller]) -> None:
        self._callers = {digest(token): caller for token, caller in tokens.items()}

    @classmethod
    def from_file(cls, path: Path) -> "StaticTokens":
        """Read `{TOKEN: {"user": NAME, "grants": [PERMISSION, ...]}}`."""
        try:
            entries = cast(dict[str, dict[str, Any]], json.loads(path.read_text(encoding="utf-8")))
            return cls({token: user(_name(entry), _grants(entry)) for token, entry in entries.items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            form = '{"TOKEN": {"user": "ann", "grants": ["cards:read"]}}'
            raise InvalidSetting(f"{path} is not a readable token file ({error!r}); it must look like {form}") from None

    async def verify(self, token: str) -> Caller | None:
        """Look the token up by its digest, so that timing reveals nothing about it."""
        return self._callers.get(digest(token))


def _name(entry: Mapping[str, Any]) -> str:
    name = entry["user"]
    if not is_user_name(name):
        raise ValueError(f"user is {name!r}, which is not the name of a user")
    return name


def _grants(entry: Mapping[str, Any]) -> list[str]:
    """The grants of an entry. A text in place of a list would grant each of its characters, also `*`."""
    grants = entry.get("grants", [])
    if not isinstance(grants, list) or not all(isinstance(grant, str) for grant in cast(list[Any], grants)):
        raise TypeError(f"grants is {grants!r}, not a list of permissions")
    return cast(list[str], grants)


def digest(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
