"""Proxies in front of the server: whose headers say where a request came from (`--trusted-proxies`)."""

import ipaddress
from collections.abc import Sequence
from typing import Any

from mcp_core.hosts.callers import Scope
from mcp_core.process.start_errors import InvalidSetting

UNIX = "unix"
_SCHEMES = frozenset({"http", "https"})
_FORWARDED_FOR, _FORWARDED_PROTO, _FORWARDED_HOST = b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host"


class TrustedProxies:
    """Replaces the client, scheme and host of a request with those that a trusted proxy reports."""

    def __init__(self, names: Sequence[str]) -> None:
        self._unix = UNIX in names
        self._networks = [_network(name) for name in names if name != UNIX]

    def apply(self, scope: Scope) -> None:
        """Change the scope of a request that comes from a trusted proxy."""
        client = scope.get("client")
        if not (self._unix if client is None else self.is_trusted(client[0])):
            return
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        address = self._client_address(_values(headers, _FORWARDED_FOR))
        if address is not None:
            scope["client"] = (address, 0)
        scheme = _values(headers, _FORWARDED_PROTO)[-1:]
        if scheme and scheme[0] in _SCHEMES:
            scope["scheme"] = scheme[0]
        host = _values(headers, _FORWARDED_HOST)[-1:]
        if host:
            others = [(name, value) for name, value in headers if name != b"host"]
            scope["headers"] = [*others, (b"host", host[0].encode("latin-1"))]

    def _client_address(self, addresses: list[str]) -> str | None:
        """The last address that is not a proxy's. What stands before it was written by whoever sent the request."""
        found: str | None = None
        for text in reversed(addresses):
            address = _without_port(text)
            if _parse(address) is None:
                return found
            found = address
            if not self.is_trusted(address):
                return found
        return found

    def is_trusted(self, text: str) -> bool:
        """Whether an address is that of a trusted proxy."""
        address = _parse(text)
        return address is not None and any(address in network for network in self._networks)


def _network(name: str) -> Any:
    try:
        return ipaddress.ip_network(name)
    except ValueError as error:
        example = "10.0.0.0/8, 192.168.1.7 or unix"
        raise InvalidSetting(f"--trusted-proxies: {error}. Write addresses or networks, such as {example}.") from None


def _parse(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, ipaddress.IPv6Address) else address


def _without_port(text: str) -> str:
    """An address in `1.2.3.4:5678` or `[2001:db8::1]:443`."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    """The values of a list header, in order, whether they were sent in one line or in several."""
    lines = [value.decode("latin-1") for key, value in headers if key == name]
    return [value.strip() for line in lines for value in line.split(",") if value.strip()]
