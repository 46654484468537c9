"""Access tokens of an issuer: how they are verified, for which audience, and what clients need to get one."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from mcp_core.auth.caller import Caller
from mcp_core.auth.introspection import Introspection
from mcp_core.auth.issuer_http import IssuerHealth, IssuerHttp, check_url
from mcp_core.auth.issuer_keys import IssuerKeys
from mcp_core.auth.jwt_tokens import JwtTokens
from mcp_core.auth.permissions import Permissions
from mcp_core.auth.verified_tokens import VerifiedToken, VerifiedTokens
from mcp_core.process.start_errors import InvalidSetting
from mcp_core.settings.model import Settings


class _Verification(Protocol):
    async def verify(self, token: str) -> VerifiedToken | None: ...


class Audience(NamedTuple):
    """The audience that tokens must be issued for."""

    public_url: str
    """The address of the site for clients, without a path to one of its servers."""
    accepted: tuple[str, ...]

    @classmethod
    def of(cls, values: Sequence[str], server: str) -> "Audience":
        """From the values of `--audience`, for one server of the site. Raises InvalidSetting."""
        if not values:
            raise InvalidSetting(
                "--oidc needs --audience: the public URL of this server, such as https://tools.example"
            )
        first = check_url(values[0], "--audience").rstrip("/")
        if urlsplit(first).query or urlsplit(first).fragment:
            raise InvalidSetting(f"--audience is {first!r}. It must not have a query or a fragment.")
        public_url = first.removesuffix(f"/{server}/mcp").removesuffix("/mcp")
        accepted = (first, f"{public_url}/mcp", f"{public_url}/{server}/mcp", *(one.rstrip("/") for one in values[1:]))
        return cls(public_url, tuple(form for one in dict.fromkeys(accepted) for form in (one, f"{one}/")))


class AccessTokens:
    """Finds the caller of an access token."""

    def __init__(
        self, settings: Settings, server: str, permissions: Permissions, http: IssuerHttp | None = None
    ) -> None:
        issuer = check_url(settings.oidc or "", "--oidc")
        audience = Audience.of(settings.audience, server)
        self.public_url = audience.public_url
        self._http = http or IssuerHttp()
        self._verified = VerifiedTokens(permissions)
        self._keys = IssuerKeys(issuer, self._http)
        self._uses_keys = settings.introspection is None
        self._verification: _Verification = JwtTokens(self._keys, audience.accepted, permissions)
        if settings.introspection is not None:
            self._verification = Introspection(
                check_url(settings.introspection, "--introspection"),
                _credentials(settings),
                self._http,
                issuer=issuer,
                audiences=audience.accepted,
                permissions=permissions,
            )

    @property
    def issuer(self) -> str:
        """The URL of the issuer, as its metadata writes it."""
        return self._keys.issuer

    @property
    def health(self) -> IssuerHealth:
        """Whether the issuer can be reached. Tokens that are known are accepted even if it cannot."""
        return self._http.health

    def open(self) -> None:
        """Begin to fetch the keys, so that the first call need not wait for them."""
        if self._uses_keys:
            self._keys.start_fetch()

    async def verify(self, token: str) -> Caller | None:
        """The caller; None where the token is not valid. Raises IdentityUnavailable."""
        caller = self._verified.get(token)
        if caller is not None:
            return caller
        verified = await self._verification.verify(token)
        return None if verified is None else self._verified.add(token, verified)

    def forget_verified(self) -> None:
        """Verify all tokens again: the policy has changed."""
        self._verified.clear()

    async def close(self) -> None:
        """Close all connections."""
        await self._keys.close()
        await self._http.close()


def _credentials(settings: Settings) -> tuple[str, str] | None:
    if settings.introspection_client is None:
        return None
    secret = settings.introspection_secret
    return settings.introspection_client, secret.get_secret_value() if secret else ""
