"""The metadata of an issuer: OpenID Connect Discovery, or RFC 8414."""

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from mcp_core.auth.issuer_http import IssuerHttp


async def read_metadata(issuer: str, http: IssuerHttp) -> dict[str, Any]:
    """The metadata, with `issuer` as the issuer writes it. Raises IdentityUnavailable."""
    openid = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    metadata = await http.get_first(openid, _oauth_metadata_url(issuer))
    named = metadata.get("issuer")
    if not isinstance(named, str) or named.rstrip("/") != issuer.rstrip("/"):
        raise http.fault(f"The metadata of {issuer} names another issuer: {named!r}.")
    return metadata


def read_endpoint(metadata: dict[str, Any], field: str, http: IssuerHttp) -> str:
    """An address in the metadata, not less protected than the issuer. Raises IdentityUnavailable."""
    issuer, address = str(metadata["issuer"]), metadata.get(field)
    if not isinstance(address, str) or urlsplit(address).scheme not in ("https", urlsplit(issuer).scheme):
        raise http.fault(f"The metadata of {issuer} has no valid {field}: {address!r}.")
    return address


def _oauth_metadata_url(issuer: str) -> str:
    parts = urlsplit(issuer)
    path = f"/.well-known/oauth-authorization-server{parts.path.rstrip('/')}"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))
