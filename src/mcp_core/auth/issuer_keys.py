"""The keys that an issuer signs with: found by its metadata, kept, and fetched again when they change."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import jwt

from mcp_core.auth.caller import IdentityUnavailable
from mcp_core.auth.issuer_http import IssuerHttp
from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)

KEEP_SECONDS = 600.0
"""After this time the keys are fetched again. Calls go on with the known keys meanwhile."""

STALE_SECONDS = 24 * 3600.0
"""So long the known keys are used while the issuer cannot be reached. By then it may have withdrawn one."""

REFRESH_SECONDS = 10.0
"""Keys are fetched at most once in this time, whatever tokens arrive. It doubles while the issuer fails."""

_MAX_WAIT_SECONDS = 120.0
_MAX_KEYS = 100
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_ALGORITHMS = {
    ("RSA", None): _RSA,
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
"""The signatures that each kind of key may make. None of them can be made with the public key, as HS256 could."""

ALGORITHMS = frozenset(name for names in _ALGORITHMS.values() for name in names)


class IssuerKey(NamedTuple):
    """A public key, and the algorithms that it may be used with."""

    kid: str | None
    key: Any
    algorithms: tuple[str, ...]


class IssuerKeys:
    def __init__(self, issuer: str, http: IssuerHttp, *, timer: Callable[[], float] = time.monotonic) -> None:
        self.issuer = issuer
        """As its metadata has it: the `iss` of its tokens."""
        self._http, self._timer = http, timer
        self._keys: list[IssuerKey] | None = None
        self._jwks_uri: str | None = None
        self._keep_until = self._next_fetch = 0.0
        self._failures = 0
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, kid: str | None, algorithm: str) -> IssuerKey | None:
        """The key of a token. Raises IdentityUnavailable where it is unknown and cannot be looked up now."""
        if self._timer() >= self._keep_until + STALE_SECONDS:
            self._keys = None
        key = self._known(kid, algorithm)
        if key is None:
            await self.refresh()
            key = self._known(kid, algorithm)
            if key is None and (self._keys is None or self._failures):
                raise IdentityUnavailable("The keys of the issuer cannot be fetched now. Try again.")
        elif self._timer() >= self._keep_until:
            self.start_fetch()
        return key

    async def refresh(self) -> None:
        """Fetch the keys, if they were not fetched a moment ago. Those who come meanwhile wait for the same fetch."""
        task = self.start_fetch()
        if task is not None:
            await asyncio.shield(task)

    def start_fetch(self) -> asyncio.Task[None] | None:
        """Fetch the keys in the background, under the same condition."""
        if self._fetching is None or self._fetching.done():
            if self._timer() < self._next_fetch:
                return None
            self._fetching = asyncio.ensure_future(self._fetch())
        return self._fetching

    def _known(self, kid: str | None, algorithm: str) -> IssuerKey | None:
        """The key of this id. A token without an id is accepted if only one key can have signed it."""
        keys = [key for key in self._keys or () if algorithm in key.algorithms and kid in (None, key.kid)]
        return keys[0] if len(keys) == 1 else None

    async def _fetch(self) -> None:
        try:
            keys = await self._read_keys()
        except IdentityUnavailable:
            self._failures += 1
            self._jwks_uri = None  # it may have moved
        else:
            self._keys, self._failures = keys, 0
            self._keep_until = self._timer() + KEEP_SECONDS
        wait = REFRESH_SECONDS * 2 ** max(0, self._failures - 1)
        self._next_fetch = self._timer() + min(wait, _MAX_WAIT_SECONDS)

    async def _read_keys(self) -> list[IssuerKey]:
        if self._jwks_uri is None:
            self._jwks_uri = await self._find_jwks_uri()
        found: Any = (await self._http.get(self._jwks_uri)).get("keys")
        keys = cast(list[Any], found)[:_MAX_KEYS] if isinstance(found, list) else []
        return [key for one in keys if (key := _read_key(one)) is not None]

    async def _find_jwks_uri(self) -> str:
        """The address of the keys, from the metadata of the issuer."""
        metadata = await self._http.metadata(self.issuer)
        address = self._http.endpoint(metadata, "jwks_uri")
        self.issuer = metadata["issuer"]
        return address

    async def close(self) -> None:
        """End a fetch that is under way."""
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.gather(self._fetching, return_exceptions=True)


def _read_key(jwk: Any) -> IssuerKey | None:
    """A key for signatures; None for any other, which an issuer may have too."""
    if not isinstance(jwk, dict):
        return None
    fields = cast(dict[str, Any], jwk)
    kind, curve = fields.get("kty"), fields.get("crv")
    algorithms = _ALGORITHMS.get((str(kind), None if kind == "RSA" else str(curve)), ())
    if fields.get("alg") is not None:
        algorithms = tuple(name for name in algorithms if name == fields["alg"])
    if not algorithms or fields.get("use", "sig") != "sig":
        return None
    try:
        key = jwt.PyJWK(fields, algorithms[0]).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError) as error:
        logger.warning("A key of the issuer is not valid and is not used: %s", error)
        return None
    kid = fields.get("kid")
    return IssuerKey(kid if isinstance(kid, str) else None, key, algorithms)
