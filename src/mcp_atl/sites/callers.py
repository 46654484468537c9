"""Callers over HTTP who bring their own credentials, in headers of each request.

X-Atlassian-Authorization    Basic (e-mail and API token, or user and password) or Bearer (a personal access token)
X-Atlassian-Site             the name of a configured site, or an address that the operator allows

The credentials are for one site: that of the header, or else the default one. They are sent to no other.

A caller with a name may instead be signed in with OAuth: `mcp-atl login --caller NAME`, run by who runs the server.
"""

import base64
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from mcp_atl.client.errors import AuthError
from mcp_atl.site import AtlassianSite, Credentials, Secret
from mcp_atl.sites.environment import kind_of, site_root
from mcp_atl.sites.store import LOGIN

AUTHORIZATION = "X-Atlassian-Authorization"
SITE = "X-Atlassian-Site"
REQUEST_HEADERS = (AUTHORIZATION, SITE)

_TELL_THE_USER = "Tell the user which header is missing or wrong. Do not ask for a token in the conversation."


@dataclass(frozen=True, slots=True)
class CallerPolicy:
    """The credentials that callers must bring, and the sites that they may choose by address."""

    credentials_required: bool = False
    hosts: tuple[str, ...] = ()
    """Hosts that a caller may name, such as *.atlassian.net."""
    restrict: Callable[[AtlassianSite], AtlassianSite] = lambda site: site
    """Applies the limits of this server to a site that a caller named."""

    def site_at(self, address: str) -> AtlassianSite | None:
        """The site at an address that a caller may choose; None for all others."""
        if "://" not in address:
            return None
        try:
            url = urlsplit(address)
            host, port = (url.hostname or "").rstrip("."), url.port
        except ValueError:
            return None
        if url.scheme != "https" or url.username or not any(fnmatchcase(host, one.lower()) for one in self.hosts):
            return None
        origin = f"https://{host}{f':{port}' if port else ''}"
        root = site_root(f"{origin}{url.path}")
        return self.restrict(AtlassianSite(origin, kind_of(origin), jira_url=root, confluence_url=root))


def own_credentials(headers: Mapping[str, str]) -> Credentials | None:
    """The credentials that came with a request; None where there are none."""
    sent = headers.get(AUTHORIZATION.lower(), "")
    if not sent:
        return None
    scheme, _, value = sent.partition(" ")
    value = value.strip()
    if scheme.lower() == "bearer" and value:
        return Credentials("bearer", secret=Secret(value))
    if scheme.lower() == "basic" and (pair := _user_and_secret(value)):
        return Credentials("basic", *pair)
    raise AuthError(
        f"The header {AUTHORIZATION} is not valid. It has Basic with user:token in base64, or Bearer with a token.",
        instruction=_TELL_THE_USER,
    )


def _user_and_secret(encoded: str) -> tuple[str, Secret] | None:
    try:
        user, colon, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:
        return None
    return (user, Secret(secret)) if colon and secret else None


def missing_credentials(site: str, caller: str | None) -> AuthError:
    """The error for a caller who must bring credentials, but brought none."""
    sign_in = f", or ask who runs this server to sign you in: `{login_command(caller)}`" if caller else ""
    return AuthError(
        f"This server needs your own credentials for the site {site!r}. Send them with each request in the header "
        f"{AUTHORIZATION} (Basic or Bearer){sign_in}.",
        instruction=_TELL_THE_USER,
    )


def login_command(caller: str) -> str:
    """The command that signs in a caller."""
    return f"{LOGIN} --caller {shlex.quote(caller)}"


def credentials_of_another_site(own: str, wanted: str) -> AuthError:
    """The error for a call that would send a caller's credentials to a site that they are not for."""
    return AuthError(
        f"The credentials of this request are for the site {own!r}, not for {wanted!r}. To use that site, send "
        f"its name in the header {SITE}, and credentials for it.",
        instruction=_TELL_THE_USER,
    )
