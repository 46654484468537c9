"""Which addresses may be asked for metadata and tokens, and whether one resource contains another."""

from urllib.parse import SplitResult, urlsplit

from mcp_core.auth.oauth.errors import OAuthError

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_DEFAULT_PORTS = {"http": 80, "https": 443}


def is_loopback(address: str) -> bool:
    """Whether an address is on this machine."""
    return (urlsplit(address).hostname or "") in _LOOPBACK


def check_address(address: object, what: str, server: str) -> str:
    """An address that secrets may be sent to. Raises OAuthError.

    It has https, or is on this machine as the server itself is: no other server can make us ask something here.
    """
    if isinstance(address, str) and _is_plain(address):
        scheme = urlsplit(address).scheme
        if scheme == "https" or (scheme == "http" and is_loopback(address) and is_loopback(server)):
            return address
    raise OAuthError(
        f"names {str(address)[:200]!r} as its {what}. It must begin with https://; http:// is allowed only between "
        "servers on this machine."
    )


def is_same_issuer(one: str, other: str) -> bool:
    """Whether two names of issuers are the same. Some servers write a host with a slash in one place only."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    return longer == f"{shorter}/" and urlsplit(shorter).path == ""


def origin(address: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address."""
    parts = urlsplit(address)
    return parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme)


def contains(resource: str, address: str) -> bool:
    """Whether an address is that of a resource, or below it."""
    outer, inner = _split(resource), _split(address)
    if outer is None or inner is None or origin(resource) != origin(address) or outer.query or outer.fragment:
        return False
    path = outer.path.rstrip("/")
    return inner.path == path or inner.path.startswith(f"{path}/")


def _is_plain(address: str) -> bool:
    """Whether an address has a host, and nothing that could be read in two ways."""
    parts = _split(address) if address.isascii() and address.isprintable() and " " not in address else None
    return parts is not None and bool(parts.hostname) and parts.username is None and not parts.fragment


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return None
    return parts
