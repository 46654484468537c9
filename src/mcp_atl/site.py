"""A site and the credentials to use it with."""

import base64
from dataclasses import dataclass, field
from typing import Literal, Protocol
from urllib.parse import urlsplit

from toolcharter import InvalidArguments

Kind = Literal["cloud", "datacenter"]
Product = Literal["jira", "confluence"]
ProductName = Literal["atlassian", "jira", "confluence"]

GATEWAY = "https://api.atlassian.com"


class Secret(str):
    """A token or password. Its repr does not show it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Secret('***')"


NO_SECRET = Secret("")


@dataclass(frozen=True, slots=True)
class Credentials:
    """How requests are signed: an e-mail or user name with a token (basic), a token alone (bearer), or not at all.

    With `oauth`, the secret is what `sites.oauth` renews access tokens with.
    """

    scheme: Literal["basic", "bearer", "oauth", "none"] = "none"
    user: str = ""
    secret: Secret = NO_SECRET

    @property
    def header(self) -> str | None:
        """The value of the Authorization header."""
        if self.scheme in ("none", "oauth"):
            return None
        if self.scheme == "bearer":
            return f"Bearer {self.secret!s}"
        pair = f"{self.user}:{self.secret!s}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"


@dataclass(frozen=True, slots=True)
class AtlassianSite:
    """One Atlassian site. On Cloud both products share an address; on Data Center each has its own."""

    name: str
    kind: Kind
    jira_url: str | None = None
    confluence_url: str | None = None
    cloud_id: str | None = None
    """Set for scoped tokens and OAuth: requests then go through the gateway."""
    gateway: str | None = None
    """In place of Atlassian's: a sandbox."""
    projects: frozenset[str] | None = None
    spaces: frozenset[str] | None = None
    read_only: bool = False
    sandbox: bool = False
    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)

    @property
    def is_cloud(self) -> bool:
        """Whether this is a Cloud site."""
        return self.kind == "cloud"

    @property
    def hosts(self) -> set[str]:
        """The hosts of its products."""
        return {urlsplit(url).hostname or "" for url in (self.jira_url, self.confluence_url) if url is not None}

    def is_same(self, other: "AtlassianSite") -> bool:
        """Whether both have a name or a host in common."""
        return self.name == other.name or bool(self.hosts & other.hosts)

    def base_url(self, product: Product) -> str:
        """The address that the paths of a product are joined to."""
        if self.cloud_id is not None:
            return f"{self.gateway or GATEWAY}/ex/{product}/{self.cloud_id}"
        url = self.jira_url if product == "jira" else self.confluence_url
        if url is None:
            other = "confluence" if product == "jira" else "jira"
            raise InvalidArguments(
                f"The site {self.name!r} has no {product.capitalize()} address. Use product={other!r}, or configure it."
            )
        return url.rstrip("/")


@dataclass(frozen=True, slots=True)
class Access:
    """A site, and the credentials for each of its products."""

    site: AtlassianSite
    jira: Credentials = Credentials()
    confluence: Credentials = Credentials()

    def credentials(self, product: Product) -> Credentials:
        """The credentials for a product."""
        return self.jira if product == "jira" else self.confluence


class TokenSource(Protocol):
    """Access tokens of OAuth, which end after an hour."""

    async def current(self) -> Secret:
        """An access token that is valid now."""
        ...

    async def after_refusal(self, refused: Secret) -> Secret:
        """The access token to try after the site refused one."""
        ...
