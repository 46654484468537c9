"""The hash chain of an audit trail.

A record is one line of JSON. It begins with its chain, its number and the hash of the record before, and ends with its
own hash, which is made of every byte before it:

    {"chain":"todo-5f2c9d0a","seq":7,"prev":"9c1e...","time":"...", ... ,"hash":"41d2..."}

With a key the hash is an HMAC, and the last member is called `hmac`: who can write the trail but does not have the key
cannot make a chain that fits. Each process writes a chain of its own, so that no two have to wait for each other.
"""

import hashlib
import hmac
import json
import secrets
from pathlib import Path
from typing import Any, NamedTuple, cast

from mcp_core.process.start_errors import InvalidSetting

_START = b'{"chain":"'
_HASH_DIGITS = 64
_MIN_KEY_LENGTH = 16


class Chain:
    """Makes the records of one chain."""

    def __init__(self, name: str, key: bytes | None = None, chain_id: str | None = None) -> None:
        self.id = chain_id or f"{name}-{secrets.token_hex(8)}"
        self.seq, self.head = 0, ""
        """The number and the hash of the last record."""
        self._key = key
        self._begin = f'{{"chain":"{self.id}","seq":'
        self._before_hash = b',"hash":"' if key is None else b',"hmac":"'
        self._next_hash = ""

    def line(self, members: str) -> bytes:
        """The next record, from its members as JSON text. It is a part of the chain after `advance`."""
        body = f'{self._begin}{self.seq + 1},"prev":"{self.head}",{members}'.encode("utf-8", "replace")
        digest = self._next_hash = _digest(body, self._key)
        return body + self._before_hash + digest.encode() + b'"}\n'

    def advance(self) -> None:
        """Continue after the record that `line` made last: it has been written."""
        self.seq, self.head = self.seq + 1, self._next_hash

    @property
    def place(self) -> tuple[int, str]:
        """The number and the hash of the last record."""
        return self.seq, self.head

    @place.setter
    def place(self, place: tuple[int, str]) -> None:
        self.seq, self.head = place

    def digest(self, text: str) -> str:
        """The digest of a text, which cannot be guessed by trying values if there is a key."""
        return _digest(text.encode("utf-8", "replace"), self._key)

    @property
    def checkpoint(self) -> str:
        """The identity of the last record. Kept elsewhere, it proves later that no record up to it is missing."""
        return f"{self.id}:{self.seq}:{self.head}"


class Record(NamedTuple):
    """A record as it was read."""

    chain: str
    seq: int
    prev: str
    hash: str
    intact: bool
    """Whether its hash is that of its bytes."""
    members: dict[str, Any]
    line: str


def parse(line: bytes, key: bytes | None = None) -> Record | None:
    """The record in a line; None if there is none. A fragment in front of it is ignored: see `FileSink.write`."""
    for start in (0, line.rfind(_START)):
        if start >= 0 and line.startswith(_START, start):
            record = _parse(line[start:].rstrip(b"\r\n"), key)
            if record is not None:
                return record
    return None


def _parse(line: bytes, key: bytes | None) -> Record | None:
    try:
        loaded = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(loaded, dict):
        return None
    members = cast(dict[str, Any], loaded)
    chain, seq, prev = members.get("chain"), members.get("seq"), members.get("prev")
    if not isinstance(chain, str) or type(seq) is not int or not isinstance(prev, str):
        return None
    member, text = "hash" if key is None else "hmac", line.decode("utf-8", "replace")
    found = members.get(member)
    end = b',"%b":"%b"}' % (member.encode(), str(found).encode("utf-8", "replace"))
    # Without the key, the chain of hashes can still be followed, but not whether each is right.
    if key is None and found is None and isinstance(members.get("hmac"), str):
        return Record(chain, seq, prev, members["hmac"], intact=True, members=members, line=text)
    body = line[: -len(end)]
    is_right = (
        isinstance(found, str)
        and len(found) == _HASH_DIGITS
        and line.endswith(end)
        and hmac.compare_digest(_digest(body, key).encode(), found.encode("utf-8", "replace"))
    )
    shown = found if isinstance(found, str) else ""
    return Record(chain, seq, prev, shown, is_right, members, text)


def read_key(path: Path) -> bytes:
    """The key of a file, without white space at its ends."""
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise InvalidSetting(f"The audit key {str(path)!r} cannot be read: {error.strerror}.") from None
    if len(key) < _MIN_KEY_LENGTH:
        make = f"openssl rand -hex 32 > {path}"
        raise InvalidSetting(f"The audit key {str(path)!r} has {len(key)} bytes, fewer than {_MIN_KEY_LENGTH}: {make}")
    return key


def _digest(data: bytes, key: bytes | None) -> str:
    return hashlib.sha256(data).hexdigest() if key is None else hmac.digest(key, data, "sha256").hex()
