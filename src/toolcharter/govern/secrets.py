"""Secrets of upstreams: the charter has the place of each one, never its value."""

import os
from collections.abc import Mapping
from pathlib import Path

from mcp_core.process.extras import RequiresExtra
from toolcharter.govern.upstream.errors import UpstreamUnavailable

KEYRING_SERVICE = "toolcharter-govern"


def read_secrets(places: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The values of `env:NAME`, `keyring:NAME` and `file:PATH`. Raises UpstreamUnavailable where one is missing."""
    return {name: _read(place, name, folder) for name, place in places.items()}


def _read(place: str, name: str, folder: Path) -> str:
    kind, _, where = place.partition(":")
    if kind == "env":
        value, how = os.environ.get(where), f"set the environment variable {where}"
    elif kind == "file":
        path = folder / Path(where).expanduser()
        value = path.read_text(encoding="utf-8").strip() if path.is_file() else None
        how = f"write it to {path}"
    else:
        with RequiresExtra("govern", "A secret in the system's keyring"):
            import keyring  # noqa: PLC0415 - 60 ms, and few charters use it
        value = keyring.get_password(KEYRING_SERVICE, where)
        how = f"store it: keyring set {KEYRING_SERVICE} {where}"
    if not value:
        raise UpstreamUnavailable(f"needs the secret {name}, which is missing. To provide it, {how}.")
    return value
