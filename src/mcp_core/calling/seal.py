"""Sealed state: proof, carried by the client, that the server asked this very question.

What comes back is in the hands of an attacker. A seal is bound to caller, tool and arguments by a keyed hash,
ends after a while, and names a nonce that the server lets pass only once.
"""

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from typing import Any, cast

_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Seal:
    """An opened seal that was genuine and is not past its end."""

    nonce: str
    expires: float


def bind(*parts: str) -> str:
    """A digest of what a seal is for; no two different lists of parts give the same one."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def make(key: bytes, binding: str, expires: float) -> str:
    """Seal a question."""
    claims = {"v": _VERSION, "n": secrets.token_urlsafe(16), "e": expires, "b": binding}
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode())
    return f"{payload.decode()}.{_sign(key, payload)}"


def is_genuine(key: bytes, text: str) -> bool:
    """Whether this server has made the seal, whatever for."""
    payload, _, signature = text.encode("utf-8", "replace").partition(b".")
    return hmac.compare_digest(_sign(key, payload).encode(), signature)


def open_seal(key: bytes, binding: str, text: str, now: float) -> Seal | str:
    """The seal, or why it does not count."""
    if not is_genuine(key, text):
        return "not made by this server"
    claims = cast(dict[str, Any], json.loads(base64.urlsafe_b64decode(text.partition(".")[0])))
    if not hmac.compare_digest(str(claims["b"]), binding):
        return "made for another caller, tool or arguments"
    if claims["e"] <= now:
        return "expired"
    return Seal(nonce=str(claims["n"]), expires=float(claims["e"]))


def _sign(key: bytes, payload: bytes) -> str:
    return hmac.digest(key, payload, "sha256").hex()
