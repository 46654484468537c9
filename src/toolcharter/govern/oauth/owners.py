"""Whose sign-in a call uses."""

import shlex
from ipaddress import ip_address

from mcp_core.auth.caller import LOCAL
from mcp_core.errors import PermissionDenied

SHARED = "shared"
"""The owner of a sign-in that counts for all callers."""
_USER = "user:"
_ANONYMOUS = "anonymous:"


def owner_of(caller: str, server: str) -> str:
    """The owner whose sign-in the calls of a caller use. Raises PermissionDenied for a caller who could be anybody."""
    if caller == LOCAL or caller.startswith(_USER):
        return caller
    if caller.startswith(_ANONYMOUS) and _is_here(caller.removeprefix(_ANONYMOUS)):
        return LOCAL
    raise PermissionDenied(
        f"Callers of {server!r} sign in, each for themselves, and the governor does not know who you are. Whoever runs "
        "it can let callers identify themselves with --tokens or --oidc."
    )


def named_owner(name: str | None, tokens: str) -> str:
    """The owner for a name on the command line; without one, the person at this machine."""
    return SHARED if tokens == "shared" else f"{_USER}{name}" if name else LOCAL


def describe_owner(owner: str) -> str:
    """An owner in words."""
    return "all callers" if owner == SHARED else "you" if owner == LOCAL else owner.removeprefix(_USER)


def login_command(server: str, owner: str) -> str:
    """The command that signs an owner in."""
    caller = f" --caller {shlex.quote(owner.removeprefix(_USER))}" if owner.startswith(_USER) else ""
    return f"toolcharter govern login {server}{caller}"


def _is_here(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
