"""The file of static tokens: their names, digests, users, permissions and time limits.

    {"version": 1, "tokens": {"laptop": {"sha256": "9f86d0...", "user": "ann", "grants": ["cards:*"],
                                         "created": "2026-11-18T02:00:00+00:00", "expires": null}}}

An older form with the tokens themselves is still read: `{TOKEN: {"user": "ann", "grants": [...]}}`.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from mcp_core.auth.caller import STATIC_PREFIX, digest, is_user_name
from mcp_core.files.private_file import write_private
from mcp_core.process.start_errors import InvalidSetting

_VERSION = 1
_FORM = '{"version": 1, "tokens": {NAME: {"sha256": DIGEST, "user": "ann", "grants": ["cards:read"], "expires": null}}}'


class TokenEntry(NamedTuple):
    """A token as stored: hash, owner, grants, expiry."""

    name: str
    sha256: str
    user: str
    grants: tuple[str, ...] = ()
    created: datetime | None = None
    expires: datetime | None = None

    def is_expired(self, now: datetime) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= now

    def to_json(self) -> dict[str, Any]:
        """The value of its name in the file."""
        return {
            "sha256": self.sha256,
            "user": self.user,
            "grants": list(self.grants),
            "created": self.created.isoformat() if self.created else None,
            "expires": self.expires.isoformat() if self.expires else None,
        }


class TokenList(NamedTuple):
    """The content of a file. `is_plain` if it has the tokens themselves."""

    entries: tuple[TokenEntry, ...] = ()
    is_plain: bool = False

    def find(self, name: str) -> TokenEntry | None:
        """The entry of this name."""
        return next((entry for entry in self.entries if entry.name == name), None)


def new_token() -> str:
    """A token of 256 random bits."""
    return STATIC_PREFIX + secrets.token_urlsafe(32)


def read_tokens(path: Path) -> TokenList:
    """Read a token file. Raises InvalidSetting."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        return _parse(content)
    except FileNotFoundError:
        advice = f"Create it with `toolcharter token create NAME --tokens {path}`"
        raise InvalidSetting(f"The token file {path} does not exist. {advice}.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidSetting(f"{path} is not a readable token file ({error!r}); it must look like {_FORM}") from None


def _parse(content: Any) -> TokenList:
    if isinstance(content, dict) and cast(dict[str, Any], content).get("version") == _VERSION:
        tokens = cast(dict[str, Any], content["tokens"])
        return TokenList(tuple(_entry(name, fields) for name, fields in tokens.items()))
    plain = cast(dict[str, Any], content).items()
    entries: list[TokenEntry] = []
    for token, fields in plain:
        user = _user(fields)
        names = {entry.name for entry in entries}
        name = next(name for name in (user, *(f"{user}-{n}" for n in range(2, len(plain) + 2))) if name not in names)
        entries.append(TokenEntry(name, digest(token).hex(), user, _grants(fields)))
    return TokenList(tuple(entries), is_plain=True)


def _entry(name: str, fields: Mapping[str, Any]) -> TokenEntry:
    sha256 = fields["sha256"]
    if len(bytes.fromhex(sha256)) != len(digest("")):
        raise ValueError(f"sha256 of {name!r} is not a digest")
    return TokenEntry(
        name, sha256.lower(), _user(fields), _grants(fields), _time(fields, "created"), _time(fields, "expires")
    )


def _user(fields: Mapping[str, Any]) -> str:
    name = fields["user"]
    if not is_user_name(name):
        raise ValueError(f"user is {name!r}, which is not the name of a user")
    return name


def _grants(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The grants of an entry. A text in place of a list would grant each of its characters, also `*`."""
    grants = fields.get("grants", [])
    if not isinstance(grants, list) or not all(isinstance(grant, str) for grant in cast(list[Any], grants)):
        raise TypeError(f"grants is {grants!r}, not a list of permissions")
    return tuple(cast(list[str], grants))


def _time(fields: Mapping[str, Any], key: str) -> datetime | None:
    text = fields.get(key)
    if text is None:
        return None
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def write_tokens(path: Path, entries: Sequence[TokenEntry]) -> None:
    """Replace the file."""
    content = {"version": _VERSION, "tokens": {entry.name: entry.to_json() for entry in entries}}
    write_private(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
