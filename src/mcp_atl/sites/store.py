"""Credentials that setup_atlassian_credentials keeps: in the system's keyring, or a file that only its owner reads.

The file always has what is not secret (address, kind, user). The secrets are in the keyring where there is one.
"""

import hashlib
import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from mcp_atl.site import Access, AtlassianSite, Credentials, Secret
from toolcharter import NotFound, Unavailable
from toolcharter.files import locked, write_private
from toolcharter.keyring import KEYRING, Keyring, delete_password, no_keyring, use_keyring

LOGIN = "mcp-atl login"
"""The command that signs in with OAuth."""
SERVICE = "toolcharter-atlassian"
_KEPT = ("name", "kind", "jira_url", "confluence_url", "cloud_id", "gateway")


def default_store_path() -> Path:
    """The file for sites, in the platform's folder for settings."""
    from platformdirs import user_config_path  # noqa: PLC0415 - 2 ms, and not needed if the file is named

    return user_config_path("toolcharter") / "atlassian-sites.json"


class CredentialStore:
    """Sites that were set up, with their credentials."""

    def __init__(self, path: Path, open_keyring: Callable[[], Keyring | None]) -> None:
        """The keyring is opened when it is needed: that takes 80 ms."""
        self._path, self._open_keyring = path, open_keyring

    @cached_property
    def _keyring(self) -> Keyring | None:
        return self._open_keyring()

    @property
    def place(self) -> str:
        """The place of the secrets, in words."""
        return KEYRING if self._keyring is not None else self._file_place

    @property
    def _file_place(self) -> str:
        return f"{self._path}, which only its owner can read"

    def of_caller(self, name: str) -> "CredentialStore":
        """The sites that a caller over HTTP is signed in to: a file for each, as servers often have no keyring."""
        digest = hashlib.sha256(name.encode()).hexdigest()[:32]
        return CredentialStore(self._path.parent / "atlassian-callers" / f"{digest}.json", no_keyring)

    @property
    def renewal_lock(self) -> Path:
        """The file that a process locks while it renews a token."""
        return self._path.with_suffix(".lock")

    def version(self) -> int | None:
        """Changes whenever the file does; None where nothing is stored. Costs 2 us."""
        try:
            return self._path.stat().st_mtime_ns
        except OSError:
            return None

    def load(self) -> dict[str, Access]:
        """All sites that were set up."""
        return {name: self._access(entry) for name, entry in self._entries().items()}

    def save(self, access: Access) -> None:
        """Keep a site, in place of one with the same name."""
        site = access.site
        kept: dict[str, Any] = {key: value for key, value in asdict(site).items() if key in _KEPT}
        kept |= {"scheme": access.jira.scheme, "user": access.jira.user}
        secret = str.__str__(access.jira.secret)
        if self._keyring is not None:
            keyring = self._keyring
            use_keyring(lambda: keyring.set_password(SERVICE, site.name, secret))
        else:
            kept["secret"] = secret
        with self._changing() as entries:
            entries[site.name] = kept

    def schemes(self) -> dict[str, str]:
        """How each site is signed in to, without its secret: basic, bearer or oauth."""
        return {name: str(entry.get("scheme", "none")) for name, entry in self._entries().items()}

    def remove(self, name: str) -> str:
        """Forget a site with its credentials. Returns where they were kept. A renewal would store it again."""
        self._make_folder()
        with locked(self.renewal_lock), self._changing() as entries:
            if name not in entries:
                known = f"Stored sites: {', '.join(entries)}." if entries else "No site is stored."
                raise NotFound(f"No credentials are stored for {name!r}. {known}")
            place = self._file_place if "secret" in entries.pop(name) else KEYRING
            if place == KEYRING:
                if self._keyring is None:
                    raise Unavailable(
                        f"The credentials of {name!r} are in a system keyring that cannot be opened now. Nothing was "
                        "removed. Try again where it can be opened."
                    )
                keyring = self._keyring
                use_keyring(lambda: delete_password(keyring, SERVICE, name))
        return place

    def _access(self, entry: Mapping[str, Any]) -> Access:
        site = AtlassianSite(**{key: entry.get(key) for key in _KEPT})  # pyright: ignore[reportArgumentType]
        secret = entry.get("secret")
        if secret is None and self._keyring is not None:
            secret = self._keyring.get_password(SERVICE, site.name)
        credentials = Credentials(entry.get("scheme", "none"), entry.get("user", ""), Secret(secret or ""))
        return Access(site, credentials, credentials)

    def _entries(self) -> dict[str, dict[str, Any]]:
        try:
            return cast(dict[str, dict[str, Any]], json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise Unavailable(f"The file of Atlassian sites cannot be read: {self._path} ({error}).") from error

    def _make_folder(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextmanager
    def _changing(self) -> Generator[dict[str, dict[str, Any]]]:
        """The entries to change, which are written at the end. Other processes wait: they change the same file."""
        self._make_folder()
        with locked(self._path.parent):
            entries = self._entries()
            yield entries
            write_private(self._path, json.dumps(entries, indent=2))
