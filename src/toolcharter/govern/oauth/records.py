"""Sign-ins as they are stored. A repr has no secret."""

from pydantic import BaseModel, ConfigDict, Field

from mcp_core.auth.oauth.clients import OAuthClient


class _Grant(BaseModel):
    """The access of one owner to one server, requested or granted."""

    model_config = ConfigDict(frozen=True)

    server: str
    owner: str
    address: str
    """Of the server. The tokens are sent to no other."""
    resource: str
    token_endpoint: str
    revocation_endpoint: str | None = None
    client: OAuthClient


class SignIn(_Grant):
    """Tokens of one owner for one server."""

    access_token: str = Field(default="", repr=False)
    refresh_token: str | None = Field(default=None, repr=False)
    requested: tuple[str, ...] = ()
    """The scopes that were requested."""
    scopes: tuple[str, ...] = ()
    """Those that were granted."""
    expires: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether the authorization server has ended it."""
        return not self.access_token and self.refresh_token is None

    def without_tokens(self) -> "SignIn":
        """The rest of a sign-in that is over."""
        return self.model_copy(update={"access_token": "", "refresh_token": None, "expires": None})


class Attempt(_Grant):
    """A sign-in that is under way. It is used once."""

    id: str
    """Names it in the address of a page of ours. The state begins with it, and has more that nobody is shown."""
    state: str = Field(repr=False)
    verifier: str = Field(repr=False)
    names_issuer: bool
    redirect_uri: str
    scopes: tuple[str, ...]
    authorization: str = Field(repr=False)
    """The address at the authorization server that the person opens."""
    expires: float
    browser: str | None = Field(default=None, repr=False)
    """A digest of the cookie of the browser in which the owner identified themselves."""

    def granted(self) -> SignIn:
        """The sign-in that it leads to, without tokens yet."""
        shared = {name: getattr(self, name) for name in _Grant.model_fields}
        return SignIn(**shared, requested=self.scopes, scopes=self.scopes)
