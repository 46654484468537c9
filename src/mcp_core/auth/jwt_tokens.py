"""Access tokens as JWTs, verified by the keys of their issuer (RFC 9068, RFC 8725)."""

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any, cast

import jwt

from mcp_core.auth.caller import is_user_name
from mcp_core.auth.issuer_keys import ALGORITHMS, IssuerKeys
from mcp_core.auth.permissions import Permissions, Principal
from mcp_core.auth.verified_tokens import VerifiedToken
from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)

LEEWAY_SECONDS = 10
"""How far the clocks of issuer and server may differ."""

_MAX_HEADER_LENGTH = 2048
_TYPES = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})
_REQUIRED = ["exp", "iss", "aud"]
_NOT_A_JWT = "it is not a JWT; --introspection is for tokens that only their issuer can read"


class JwtTokens:
    """Verifies the JWTs of one issuer for one audience."""

    def __init__(self, keys: IssuerKeys, audiences: Sequence[str], permissions: Permissions) -> None:
        self._keys, self._audiences, self._permissions = keys, tuple(audiences), permissions

    async def verify(self, token: str) -> VerifiedToken | None:
        """Who the token stands for; None where it is not valid. Raises IdentityUnavailable."""
        try:
            header = _read_header(token)
            algorithm = str(header.get("alg"))
            if algorithm not in ALGORITHMS:
                raise jwt.InvalidAlgorithmError(f"the algorithm {algorithm[:20]!r} is not allowed")
            if str(header.get("typ", "")).lower() not in _TYPES or "crit" in header:
                raise jwt.InvalidTokenError("the header is not that of an access token")
            key = await self._keys.find(header.get("kid"), algorithm)
            if key is None:
                raise jwt.InvalidKeyError("no key of the issuer has this id and algorithm")
            claims = self._decode(token, key.key, key.algorithms)
            expires = float(claims["exp"])
        except (jwt.InvalidAudienceError, jwt.InvalidIssuerError) as error:
            # The signature is valid, so the issuer wrote these claims.
            claims = jwt.decode(token, options={"verify_signature": False})
            logger.info("An access token was refused: %s", self._other_target(claims, error))
            return None
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            logger.info("An access token was refused: %s", error)
            return None
        return verified_claims(claims, self._permissions.user_claim, expires + LEEWAY_SECONDS)

    def _other_target(self, claims: dict[str, Any], error: jwt.InvalidTokenError) -> str:
        if isinstance(error, jwt.InvalidIssuerError):
            return f"its iss is {claims.get('iss')!r:.200}, but --oidc is {self._keys.issuer!r}"
        return other_audience(claims.get("aud"), self._audiences)

    def _decode(self, token: str, key: Any, algorithms: Sequence[str]) -> dict[str, Any]:
        return jwt.decode(
            token,
            key,
            algorithms=algorithms,
            audience=self._audiences,
            issuer=self._keys.issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": _REQUIRED, "enforce_minimum_key_length": True},
        )


def _read_header(token: str) -> dict[str, Any]:
    """The header, for choosing the key. PyJWT reads it again, strictly, but its own function reads all of the token."""
    segment = token.partition(".")[0]
    if len(segment) > _MAX_HEADER_LENGTH:
        raise jwt.DecodeError("the header is too long")
    try:
        header: Any = json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))
    except ValueError:
        raise jwt.DecodeError(_NOT_A_JWT) from None
    if not isinstance(header, dict):
        raise jwt.DecodeError(_NOT_A_JWT)
    return cast(dict[str, Any], header)


def other_audience(found: object, audiences: Iterable[str]) -> str:
    """The problem of a token that was issued for another audience, with both sides for whoever sets up the issuer."""
    return f"its aud is {found!r:.200}, but --audience allows {', '.join(sorted(audiences))}"


def verified_claims(claims: dict[str, Any], user_claim: str, expires: float) -> VerifiedToken | None:
    """Who claims stand for; None where they name nobody, or the token is bound to a key that was not shown."""
    user = claims.get(user_claim)
    if not is_user_name(user):
        logger.info("An access token was refused: its claim %r is not the name of a user", user_claim)
        return None
    if claims.get("cnf") is not None:
        logger.info("An access token was refused: it is bound to a key (cnf), so that it is not a bearer token")
        return None
    return VerifiedToken(Principal(cast(str, user), scopes=_scopes(claims), claims=claims), expires)


def _scopes(claims: dict[str, Any]) -> frozenset[str]:
    """The scopes, as RFC 9068 writes them or as some issuers do (`scp`)."""
    found: Any = claims.get("scope", claims.get("scp", ""))
    words: Any = found.split() if isinstance(found, str) else found
    return frozenset(str(word) for word in cast(list[Any], words)) if isinstance(words, list) else frozenset()
