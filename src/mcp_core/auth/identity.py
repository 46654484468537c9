"""All ways by which a server identifies its callers over HTTP, as the settings choose them."""

from typing import TYPE_CHECKING

from mcp_core.auth.caller import STATIC_PREFIX, Caller
from mcp_core.auth.permissions import Permissions, ScopesAsPermissions
from mcp_core.process.start_errors import InvalidSetting
from mcp_core.settings.model import Settings

if TYPE_CHECKING:
    from mcp_core.auth.access_tokens import AccessTokens
    from mcp_core.auth.policy import PolicyFile
    from mcp_core.auth.token_file import TokenFile


class Identity:
    """Finds the caller of a bearer token: a static one of the token file, or an access token of the issuer."""

    def __init__(
        self, tokens: "TokenFile | None", access: "AccessTokens | None", policy: "PolicyFile | None" = None
    ) -> None:
        self._tokens, self.access, self._policy = tokens, access, policy

    @property
    def permissions(self) -> Permissions:
        """How tokens become permissions."""
        return self._policy or ScopesAsPermissions()

    async def verify(self, token: str) -> Caller | None:
        """The caller; None where the token is not valid. Raises IdentityUnavailable."""
        caller = self._tokens.find(token) if self._tokens is not None else None
        # The issuer must not see a token of ours, such as one that was revoked.
        if caller is None and self.access is not None and not token.startswith(STATIC_PREFIX):
            caller = await self.access.verify(token)
        return caller

    def open(self) -> None:
        """Begin to fetch what is needed to verify tokens."""
        if self.access is not None:
            self.access.open()

    def reload(self) -> None:
        """Read the policy and the tokens again. A file that is not valid changes nothing."""
        if self._policy is not None:
            self._policy.reload()
        if self._tokens is not None:
            self._tokens.reload()
        if self.access is not None:
            self.access.forget_verified()

    async def close(self) -> None:
        """Close all connections."""
        if self.access is not None:
            await self.access.close()


def open_identity(settings: Settings, server: str) -> Identity | None:
    """The identity that the settings choose; None if callers are not identified. Raises InvalidSetting."""
    _check(settings)
    if settings.tokens is None and settings.oidc is None:
        return None
    policy = tokens = access = None
    if settings.policy is not None:
        from mcp_core.auth.policy import PolicyFile  # noqa: PLC0415 - 8 ms, and few servers have a policy

        policy = PolicyFile(settings.policy)
    permissions = policy or ScopesAsPermissions()
    if settings.tokens is not None:
        from mcp_core.auth.token_file import TokenFile  # noqa: PLC0415 - 8 ms that stdio does not need

        tokens = TokenFile(settings.tokens, permissions)
    if settings.oidc is not None:
        from mcp_core.auth.access_tokens import AccessTokens  # noqa: PLC0415 - 60 ms with cryptography and httpx2

        access = AccessTokens(settings, server, permissions)
    return Identity(tokens, access, policy)


def _check(settings: Settings) -> None:
    needs = [
        ("--audience", settings.audience, "--oidc ISSUER", settings.oidc),
        ("--oidc-client", settings.oidc_client, "--oidc ISSUER", settings.oidc),
        ("--oidc-secret", settings.oidc_secret, "--oidc-client ID", settings.oidc_client),
        ("--introspection", settings.introspection, "--oidc ISSUER", settings.oidc),
        ("--introspection-client", settings.introspection_client, "--introspection URL", settings.introspection),
        ("--policy", settings.policy, "--tokens FILE or --oidc ISSUER", settings.tokens or settings.oidc),
    ]
    for option, value, needed, other in needs:
        if value and not other:
            raise InvalidSetting(f"{option} does nothing without {needed}.")
