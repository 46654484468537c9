"""The store of sign-ins, in a folder beside the charter that only its owner can read.

A file for each server and owner, one for registered clients, and one for each attempt that is under way. The tokens of
the person at this machine are in the system keyring where there is one; those of callers are in their files, because
servers often have no keyring. Every process that uses the charter shares the folder.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from mcp_core.auth.caller import LOCAL
from mcp_core.auth.oauth.clients import OAuthClient
from mcp_core.files.private_file import locked, write_private
from toolcharter.govern.oauth.records import Attempt, SignIn
from toolcharter.keyring import KEYRING, Keyring, delete_password, system_keyring, use_keyring

M = TypeVar("M", bound=BaseModel)

SERVICE = "toolcharter-govern-sign-ins"
MAX_ATTEMPT_SECONDS = 3600.0
"""The file of an older attempt is removed. None is valid for so long."""
_CLIENTS = TypeAdapter(dict[str, list[OAuthClient]])


class SignInStore:
    """The sign-ins of all owners."""

    def __init__(self, charter: Path, open_keyring: Callable[[], Keyring | None] = system_keyring) -> None:
        self.charter_folder = charter.absolute().parent
        self._folder = self.charter_folder / f"{charter.stem}-sign-ins"
        self._open_keyring = open_keyring

    @cached_property
    def _keyring(self) -> Keyring | None:
        return self._open_keyring()

    def place(self, owner: str) -> str:
        """The place of the tokens of an owner, in words."""
        in_keyring = owner == LOCAL and self._keyring is not None
        return KEYRING if in_keyring else f"{self._folder}, which only its owner can read"

    # --- sign-ins -----------------------------------------------------------------------------------------

    def version(self, server: str, owner: str) -> int | None:
        """Changes whenever the sign-in does; None where there is none. Costs 2 us."""
        try:
            return self._file(server, owner).stat().st_mtime_ns
        except OSError:
            return None

    def load(self, server: str, owner: str) -> SignIn | None:
        """The sign-in of an owner; None where there is none."""
        found = _read(self._file(server, owner), SignIn)
        # The name of the file is a digest: the content says whose it is.
        if found is None or (found.server, found.owner) != (server, owner):
            return None
        if found.is_over and owner == LOCAL and (keyring := self._keyring) is not None:
            secret = use_keyring(lambda: keyring.get_password(SERVICE, self._keyring_name(server)))
            try:
                return SignIn.model_validate_json(secret) if secret else found
            except ValidationError:
                return found
        return found

    def save(self, sign_in: SignIn) -> None:
        """Keep a sign-in, in place of an older one."""
        server, owner = sign_in.server, sign_in.owner
        if owner == LOCAL and (keyring := self._keyring) is not None:
            text = sign_in.model_dump_json()
            use_keyring(lambda: keyring.set_password(SERVICE, self._keyring_name(server), text))
            sign_in = sign_in.without_tokens()
        write_private(self._file(server, owner), sign_in.model_dump_json(indent=2))

    def remove(self, server: str, owner: str) -> bool:
        """Forget a sign-in. Returns whether there was one."""
        file = self._file(server, owner)
        if owner == LOCAL and (keyring := self._keyring) is not None:
            use_keyring(lambda: delete_password(keyring, SERVICE, self._keyring_name(server)))
        existed = file.exists()
        file.unlink(missing_ok=True)
        self.renewal_lock(server, owner).unlink(missing_ok=True)
        return existed

    def forget(self, server: str) -> None:
        """Forget all sign-ins and registrations at a server that is no longer governed."""
        for sign_in in self.owners(server):
            self.remove(server, sign_in.owner)
        self.remove_clients(server)

    def owners(self, server: str) -> list[SignIn]:
        """All sign-ins at a server."""
        found = [_read(file, SignIn) for file in sorted(self._folder.glob(f"{server}.*.json"))]
        known = [one for one in found if one is not None and one.server == server]
        return [one for one in (self.load(server, one.owner) for one in known) if one is not None]

    def renewal_lock(self, server: str, owner: str) -> Path:
        """The file that a process locks while it renews tokens."""
        return self._file(server, owner).with_suffix(".lock")

    def _file(self, server: str, owner: str) -> Path:
        return self._folder / f"{server}.{hashlib.sha256(owner.encode()).hexdigest()[:32]}.json"

    def _keyring_name(self, server: str) -> str:
        return f"{self._folder}#{server}"

    # --- clients ------------------------------------------------------------------------------------------

    def clients(self, server: str) -> list[OAuthClient]:
        """The clients that were registered for a server, the last one first."""
        try:
            return _CLIENTS.validate_json(self._clients_file.read_bytes()).get(server, [])
        except (OSError, ValidationError):
            return []

    def client(self, server: str, issuer: str, redirect_uri: str) -> OAuthClient | None:
        """The client that was registered at an issuer with this redirect address."""
        known = self.clients(server)
        return next((one for one in known if (one.issuer, one.redirect_uri) == (issuer, redirect_uri)), None)

    def save_client(self, server: str, client: OAuthClient) -> None:
        """Keep a registration."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self._folder / "clients.lock"):
            place = client.issuer, client.redirect_uri
            others = [one for one in self.clients(server) if (one.issuer, one.redirect_uri) != place]
            self._write_clients(server, [client, *others])

    def remove_clients(self, server: str) -> None:
        """Forget the registrations for a server."""
        if self.clients(server):
            with locked(self._folder / "clients.lock"):
                self._write_clients(server, [])

    def _write_clients(self, server: str, clients: list[OAuthClient]) -> None:
        try:
            every = _CLIENTS.validate_json(self._clients_file.read_bytes())
        except (OSError, ValidationError):
            every = {}
        every[server] = clients
        kept = {name: known for name, known in every.items() if known}
        write_private(self._clients_file, _CLIENTS.dump_json(kept, indent=2).decode())

    @property
    def _clients_file(self) -> Path:
        return self._folder / "clients.json"

    # --- attempts -----------------------------------------------------------------------------------------

    def save_attempt(self, attempt: Attempt) -> None:
        """Keep an attempt until it is claimed, and forget those that are too old."""
        for file in self._attempts.glob("*.json"):
            with suppress(OSError):  # another process may be faster
                if file.stat().st_mtime < time.time() - MAX_ATTEMPT_SECONDS:
                    file.unlink()
        write_private(self._attempt_file(attempt.id), attempt.model_dump_json())

    def attempt(self, number: str) -> Attempt | None:
        """An attempt that is under way."""
        found = _read(self._attempt_file(number), Attempt)
        return found if found is not None and found.id == number and found.expires > time.time() else None

    def claim_attempt(self, state: str) -> Attempt | None:
        """The attempt with this state, for whoever asks first. Only one of all processes gets it."""
        number = state.partition(".")[0]
        found = self.attempt(number)
        if found is None or not secrets.compare_digest(found.state.encode(), state.encode("utf-8", "replace")):
            return None
        try:
            self._attempt_file(number).unlink()
        except OSError:
            return None
        return found

    @property
    def _attempts(self) -> Path:
        return self._folder / "attempts"

    def _attempt_file(self, number: str) -> Path:
        # What comes from a browser is not a name of a file.
        return self._attempts / f"{hashlib.sha256(number.encode('utf-8', 'replace')).hexdigest()}.json"


def _read(file: Path, model: type[M]) -> M | None:
    """The content of a file; None if it does not exist, or is not complete."""
    try:
        return model.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None
