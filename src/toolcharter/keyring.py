"""The keyring of the system, for secrets that a person's own programs keep."""

from collections.abc import Callable
from typing import Protocol, TypeVar, cast

from mcp_core.errors import Unavailable

__all__ = ["KEYRING", "Keyring", "delete_password", "no_keyring", "system_keyring", "use_keyring"]

T = TypeVar("T")

KEYRING = "the system keyring"


class Keyring(Protocol):
    """The part of the library `keyring` that is used."""

    def get_password(self, service_name: str, username: str) -> str | None: ...
    def set_password(self, service_name: str, username: str, password: str) -> None: ...
    def delete_password(self, service_name: str, username: str) -> None: ...


def system_keyring() -> Keyring | None:
    """The keyring of this system; None where it has none that works without asking."""
    try:
        import keyring  # noqa: PLC0415 - 60 ms
        from keyring.backends import fail, null  # noqa: PLC0415 - as above

        backend = keyring.get_keyring()
        return None if isinstance(backend, (fail.Keyring, null.Keyring)) else cast(Keyring, backend)
    except (ImportError, RuntimeError):
        return None


def no_keyring() -> None:
    """For a store that keeps secrets in files."""


def use_keyring(use: Callable[[], T]) -> T:
    """The result of work with the keyring. Raises Unavailable where it refuses."""
    from keyring.errors import KeyringError  # noqa: PLC0415 - 60 ms, loaded by now

    try:
        return use()
    except KeyringError as error:
        raise Unavailable(
            f"The system keyring refused ({type(error).__name__}). Nothing was changed. Unlock it, or set "
            "PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring to use a file that only its owner can read."
        ) from None


def delete_password(keyring: Keyring, service: str, name: str) -> None:
    """Delete a secret. Keyrings fail if there is nothing to delete."""
    if keyring.get_password(service, name) is not None:
        keyring.delete_password(service, name)
