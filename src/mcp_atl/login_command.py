"""`mcp-atl login`: sign in to a Cloud site with the browser."""

import argparse
import getpass
import os
import sys
import webbrowser
from collections.abc import Callable, Sequence

from mcp_atl.site import GATEWAY, Access, AtlassianSite, Secret
from mcp_atl.sites.oauth import ISSUER, Grant
from mcp_atl.sites.sign_in import PORT, SignInAttempt
from mcp_atl.sites.store import CredentialStore, default_store_path
from toolcharter import ToolError
from toolcharter.foreign import print_text
from toolcharter.keyring import system_keyring
from toolcharter.oauth import CALLBACK
from toolcharter.process import run_interruptible

CLIENT_ID, CLIENT_SECRET = "ATLASSIAN_OAUTH_CLIENT_ID", "ATLASSIAN_OAUTH_CLIENT_SECRET"


def command(arguments: Sequence[str], open_browser: Callable[[str], object] = webbrowser.open) -> int:
    """Run `mcp-atl login` and return the exit code."""
    options = _parser().parse_args(arguments)
    client_id = options.client_id or os.environ.get(CLIENT_ID)
    if not client_id:
        print_text(f"mcp-atl login needs the id of your OAuth app: set --client-id or {CLIENT_ID}.", file=sys.stderr)
        return 2
    store = CredentialStore(default_store_path(), system_keyring)
    if options.caller:
        store = store.of_caller(options.caller)
    grant = Grant(client_id, _client_secret(), issuer=options.server or ISSUER)

    def show(address: str) -> None:
        print_text(f"Open this address to sign in:\n\n  {address}\n", flush=True)
        if not options.no_browser:
            open_browser(address)

    try:
        access = run_interruptible(_sign_in(grant, show, options))
        store.save(access)
    except (OSError, ToolError) as error:
        print_text(f"mcp-atl login: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print_text("mcp-atl login was interrupted. Nothing was stored.", file=sys.stderr)
        return 130
    who = f"Signed {options.caller} in" if options.caller else "Signed in"
    print_text(f"{who} to {access.site.name}. The sign-in is kept in {store.place}.")
    return 0


async def _sign_in(grant: Grant, show: Callable[[str], None], options: argparse.Namespace) -> Access:
    from mcp_atl.client.http import open_http  # noqa: PLC0415 - 98 ms, httpx2, and not needed for --help

    async with open_http(AtlassianSite("login", "cloud")) as http:
        gateway = options.server or GATEWAY
        return await SignInAttempt(grant, http, show, gateway=gateway, port=options.port).run(options.site)


def _client_secret() -> Secret:
    """From the environment or the terminal: an option would show it in the list of processes."""
    if (known := os.environ.get(CLIENT_SECRET)) is not None or not sys.stdin.isatty():
        return Secret(known or "")
    return Secret(getpass.getpass("Secret of the OAuth app: "))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mcp-atl login",
        description="Sign in to an Atlassian Cloud site with the browser (OAuth 2.0). Register an OAuth 2.0 app at "
        f"developer.atlassian.com with the callback http://127.0.0.1:{PORT}{CALLBACK}; its secret is read from "
        f"{CLIENT_SECRET} or asked for.",
    )
    parser.add_argument("--client-id", metavar="ID", help=f"id of the OAuth app (environment: {CLIENT_ID})")
    parser.add_argument("--site", metavar="HOST", help="the site, if your account has several: acme.atlassian.net")
    parser.add_argument("--caller", metavar="NAME", help="sign in a user of a server over HTTP")
    parser.add_argument("--port", type=int, default=PORT, help=f"port of the callback; default {PORT}")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--server", metavar="URL", help="sign in to a sandbox at this address, for a trial")
    return parser
