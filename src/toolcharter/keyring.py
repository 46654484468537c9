"""Secrets in the keyring of the system."""

from mcp_core.auth.system_keyring import KEYRING, Keyring, delete_password, no_keyring, system_keyring, use_keyring

__all__ = ["KEYRING", "Keyring", "delete_password", "no_keyring", "system_keyring", "use_keyring"]
