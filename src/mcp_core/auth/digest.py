"""The stored digest of a token."""

import hashlib


def digest(token: str) -> bytes:
    """The SHA-256 of a token. A token has 256 random bits or a signature, so that no salt is needed."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
