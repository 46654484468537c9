"""`toolcharter govern login` and `logout`: sign in to a governed server with the browser."""

import argparse
import time
import webbrowser
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from mcp_core.auth.oauth.errors import OAuthError
from mcp_core.foreign.terminal import print_text
from toolcharter.commands import CannotRun, UsageError
from toolcharter.govern import charter_file
from toolcharter.govern.charter import Charter, OAuthTable
from toolcharter.govern.oauth.attempts import SignIns
from toolcharter.govern.oauth.loopback import sign_in_here
from toolcharter.govern.oauth.owners import describe_owner, named_owner
from toolcharter.govern.oauth.probe import probe
from toolcharter.govern.oauth.records import SignIn
from toolcharter.govern.oauth.signing import SignedIn, Signing
from toolcharter.govern.oauth.store import SignInStore
from toolcharter.govern.upstream.errors import UpstreamUnavailable


async def login(path: Path, charter: Charter, name: str, options: argparse.Namespace) -> None:
    """Sign in to a server, and print where the sign-in is kept."""
    table = charter.upstream[name]
    if table.url is None:
        raise CannotRun(f"{name} is started by a command. Give it credentials with secrets, in the charter.")
    if table.pass_token or any(header.lower() == "authorization" for header in table.secrets):
        raise CannotRun(f"{name} has its token from the charter. Remove pass_token or the secret Authorization first.")
    oauth = table.oauth or OAuthTable()
    if oauth.grant == "client_credentials":
        raise CannotRun(f"{name} is signed in to with its client in the charter. Nobody else can sign in.")
    owner = named_owner(options.caller, oauth.tokens)
    store = SignInStore(path)

    def show(address: str) -> None:
        print_text(f"Open this address to sign in to {name}:\n\n  {address}\n", flush=True)
        if not options.no_browser:
            webbrowser.open(address)

    try:
        challenge = await probe(table.url)
        await sign_in_here(SignIns(name, table.url, oauth, store), owner, challenge, show)
    except (OAuthError, UpstreamUnavailable) as error:
        raise CannotRun(f"The server {name!r} {error} Nothing was changed.") from None
    if table.oauth is None:
        charter_file.set_oauth(path, name)
    print_text(f"Signed in to {name}, for {describe_owner(owner)}. The sign-in is kept in {store.place(owner)}.")


async def logout(path: Path, charter: Charter, names: Sequence[str], caller: str | None) -> None:
    """Forget the sign-in to a server."""
    if not names:
        raise UsageError("Name the server: toolcharter govern logout NAME [--caller WHO].")
    store = SignInStore(path)
    for name in names:
        oauth = charter.upstream[name].oauth or OAuthTable()
        owner = named_owner(caller, oauth.tokens)
        if not await SignIns(name, str(charter.upstream[name].url), oauth, store).end(owner):
            raise CannotRun(f"{name} has no sign-in for {describe_owner(owner)}. See: toolcharter govern status {name}")
        print_text(f"Signed out of {name}, for {describe_owner(owner)}. Tokens were removed from {store.place(owner)}.")


def describe_sign_ins(signing: Signing) -> str:
    """Who is signed in to a server until when."""
    if not isinstance(signing, SignedIn):
        return "  signed in: each caller, with the token that they have for the governor"
    sign_ins = signing.sign_ins
    if sign_ins.table.grant == "client_credentials":
        return f"  signed in: the client {sign_ins.table.client_id} of the charter"
    known = [one for one in sign_ins.store.owners(sign_ins.server) if one.address == sign_ins.address]
    return "  signed in: " + (", ".join(map(_describe, known)) or "nobody")


def _describe(sign_in: SignIn) -> str:
    who = describe_owner(sign_in.owner)
    if sign_in.is_over:
        return f"{who} (ended by the authorization server; sign in again)"
    if sign_in.expires is None or sign_in.refresh_token is not None:
        return f"{who} (renewed by itself)" if sign_in.refresh_token else who
    until = datetime.fromtimestamp(sign_in.expires, UTC)
    if sign_in.expires < time.time():
        return f"{who} (until {until:%Y-%m-%d %H:%M} UTC, which is over; sign in again)"
    return f"{who} (until {until:%Y-%m-%d %H:%M} UTC)"
