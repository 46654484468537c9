"""`mcp-atl logout`: remove stored credentials."""

import argparse
import sys
from collections.abc import Sequence

from mcp_atl.sites.store import CredentialStore, default_store_path
from toolcharter import ToolError
from toolcharter.foreign import print_text
from toolcharter.keyring import system_keyring

APPS = "https://id.atlassian.com/manage-profile/apps"
"""The page on which a person revokes the access of an OAuth app."""


def command(arguments: Sequence[str]) -> int:
    """Run `mcp-atl logout` and return the exit code."""
    options = _parser().parse_args(arguments)
    store = CredentialStore(default_store_path(), system_keyring)
    if options.caller:
        store = store.of_caller(options.caller)
    try:
        return _log_out(store, options.site, everything=options.all)
    except (OSError, ToolError) as error:
        print_text(f"mcp-atl logout: {error}", file=sys.stderr)
        return 1


def _log_out(store: CredentialStore, wanted: str | None, *, everything: bool) -> int:
    stored = store.schemes()
    if not stored and wanted is None:
        print_text("No credentials are stored.")
        return 0
    if wanted is None and not everything and len(stored) > 1:
        names = ", ".join(stored)
        print_text(
            f"mcp-atl logout: Credentials of several sites are stored: {names}. Name one, or use --all.",
            file=sys.stderr,
        )
        return 2
    for name in [wanted] if wanted is not None else list(stored):
        place = store.remove(name)
        print_text(f"Removed the credentials of {name} from {place}.")
        if stored[name] == "oauth":
            print_text(f"Atlassian still lists the OAuth app; to revoke its access, remove it at {APPS}.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mcp-atl logout",
        description="Remove stored credentials: those of `mcp-atl login` and of setup_atlassian_credentials. "
        "Credentials from the environment or a file of sites are not changed.",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("site", metavar="SITE", nargs="?", help="the site, if several are stored: acme.atlassian.net")
    which.add_argument("--all", action="store_true", help="remove the credentials of all sites")
    parser.add_argument("--caller", metavar="NAME", help="those of a user of a server over HTTP")
    return parser
