"""Sealed state: proof that the server asked this question, kept by the client.

An attacker may control what comes back. So a seal is bound to caller, tool and arguments by a keyed hash, expires,
and holds a nonce that the server accepts only once.
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
    """A genuine seal that has not expired."""

    nonce: str
    expires: float


def bind(*parts: str) -> str:
    """A digest of what a seal is for. Different lists of parts give different digests."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def make(key: bytes, binding: str, expires: float, nonce: str | None = None) -> str:
    """Seal a question. Without a nonce, it gets one."""
    claims = {"v": _VERSION, "n": nonce or secrets.token_urlsafe(16), "e": expires, "b": binding}
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode())
    return f"{payload.decode()}.{_sign(key, payload)}"


def is_genuine(key: bytes, text: str) -> bool:
    """Whether this server made the seal, for whichever call."""
    payload, _, signature = text.encode("utf-8", "replace").partition(b".")
    return hmac.compare_digest(_sign(key, payload).encode(), signature)


def open_seal(key: bytes, binding: str, text: str, now: float) -> Seal | str:
    """The seal, or the reason why it is not valid."""
    if not is_genuine(key, text):
        return "not made by this server"
    claims = cast(dict[str, Any], json.loads(base64.urlsafe_b64decode(text.partition(".")[0])))
    if not hmac.compare_digest(str(claims["b"]), binding):
        return "made for another caller, tool or arguments"
    if claims["e"] <= now:
        return "expired"
    return Seal(nonce=str(claims["n"]), expires=float(claims["e"]))


def _sign(key: bytes, payload: bytes) -> str:
    # The key also signs session ids: one must not be taken for the other.
    return hmac.digest(key, b"confirmation\0" + payload, "sha256").hex()
