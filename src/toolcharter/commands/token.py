"""Create, list and revoke the bearer tokens of a token file, for callers over HTTP.

A server that was started with --tokens FILE accepts a new token and refuses a revoked one within a second. The file has
only the digests of the tokens: a token is shown once, when it is created.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mcp_core.auth.caller import digest, is_user_name
from mcp_core.auth.token_list import TokenEntry, TokenList, new_token, read_tokens, write_tokens
from mcp_core.files.private_file import locked
from mcp_core.foreign.terminal import print_text
from mcp_core.settings.model import environment_variable
from mcp_core.text.plurals import count
from toolcharter.commands import CannotRun, UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
_PERMISSION = re.compile(r"\*|[^\s:*,]+:(?:\*|[^\s:*,]+)")
_DURATION = re.compile(r"([1-9]\d{0,4})([hdwy])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "y": 365 * 24}
_VARIABLE = environment_variable("tokens")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s create NAME | list | revoke NAME [options]"
    parser.add_argument("action", choices=("create", "list", "revoke"), help="what to do")
    parser.add_argument("name", nargs="?", metavar="NAME", help="the name of the token, such as ann or ann-laptop")
    parser.add_argument(
        "--tokens", type=Path, metavar="FILE", default=os.environ.get(_VARIABLE), help=f"the token file [{_VARIABLE}]"
    )
    parser.add_argument("--user", help="whose token it is; default: NAME")
    parser.add_argument(
        "--grants", default="", metavar="A,B", help="permissions, such as cards:read,notes:*; * for all; default: none"
    )
    parser.add_argument(
        "--expires", default="90d", metavar="TIME", help="how long it is valid: 12h, 90d, 4w, 1y or never; default: 90d"
    )


def run(options: argparse.Namespace) -> int:
    """Carry out the action."""
    if options.tokens is None:
        raise UsageError(f"Name the token file: --tokens FILE, or the variable {_VARIABLE}.")
    file, now = Path(options.tokens), datetime.now(UTC).replace(microsecond=0)
    if options.action == "list":
        if options.name:
            raise UsageError(f"`toolcharter token list` lists all tokens; it does not take a name ({options.name!r}).")
        _print_list(read_tokens(file).entries, now)
    elif not options.name:
        raise UsageError(f"Name the token: toolcharter token {options.action} NAME.")
    elif options.action == "create":
        _create(file, options, now)
    else:
        _revoke(file, options.name)
    return os.EX_OK


def _create(file: Path, options: argparse.Namespace, now: datetime) -> None:
    token = new_token()
    entry = _new_entry(options, token, now)
    if not file.absolute().parent.is_dir():
        raise UsageError(f"The folder {file.absolute().parent} does not exist.")
    with locked(file.absolute().parent):
        known = read_tokens(file) if file.exists() else TokenList()
        if known.find(entry.name) is not None:
            raise CannotRun(
                f"A token {entry.name!r} exists. Choose another name (with --user {entry.user} it can be the same "
                f"user's), or remove it first: toolcharter token revoke {entry.name} --tokens {file}"
            )
        _write(file, [*known.entries, entry])
    _report_conversion(file, known)
    grants = f"may use {', '.join(entry.grants)}" if entry.grants else "has no permissions unless a policy gives some"
    until = f"until {entry.expires:%Y-%m-%d %H:%M} UTC" if entry.expires else "until it is revoked"
    print_text(
        f"Token {entry.name!r} for user {entry.user!r}: {grants}, {until}. It is shown only now:", file=sys.stderr
    )
    print_text(token)


def _new_entry(options: argparse.Namespace, token: str, now: datetime) -> TokenEntry:
    name, user = options.name, options.user or options.name
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a name for a token: use up to 64 letters, digits and any of _ . @ -")
    if not is_user_name(user):
        raise UsageError(f"{user!r} is not the name of a user. 'local' is the caller without a token.")
    grants = tuple(word.strip() for word in options.grants.split(",") if word.strip())
    for grant in grants:
        if not _PERMISSION.fullmatch(grant):
            raise UsageError(f"--grants: {grant!r} is not a permission; write cards:read, cards:* or *.")
    return TokenEntry(name, digest(token).hex(), user, grants, now, _expiry(options.expires, now))


def _expiry(text: str, now: datetime) -> datetime | None:
    if text == "never":
        return None
    duration = _DURATION.fullmatch(text)
    if duration is None:
        raise UsageError(f"--expires: {text!r} is not a time; write 12h, 90d, 4w, 1y or never.")
    return now + timedelta(hours=int(duration[1]) * _HOURS[duration[2]])


def _revoke(file: Path, name: str) -> None:
    with locked(file.absolute().parent):
        known = read_tokens(file)
        if known.find(name) is None:
            names = ", ".join(entry.name for entry in known.entries) or "none"
            raise CannotRun(f"{file} has no token {name!r}. Tokens: {names}.")
        _write(file, [entry for entry in known.entries if entry.name != name])
    _report_conversion(file, known)
    print_text(f"Revoked {name!r}. Running servers refuse it within a second.", file=sys.stderr)


def _write(file: Path, entries: Sequence[TokenEntry]) -> None:
    try:
        write_tokens(file, entries)
    except OSError as error:
        raise CannotRun(f"{file} cannot be written: {error.strerror}.") from None


def _report_conversion(file: Path, known: TokenList) -> None:
    if known.is_plain and known.entries:
        tokens = count(len(known.entries), "token")
        print_text(f"{file} had {tokens} in plain text. It has their digests now; they remain valid.", file=sys.stderr)


def _print_list(entries: Sequence[TokenEntry], now: datetime) -> None:
    if not entries:
        print_text("No token exists. Create one with `toolcharter token create NAME`.", file=sys.stderr)
        return
    rows = [("NAME", "USER", "EXPIRES", "GRANTS"), *(_row(entry, now) for entry in entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        print_text(
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        )


def _row(entry: TokenEntry, now: datetime) -> tuple[str, str, str, str]:
    expires = f"{entry.expires:%Y-%m-%d %H:%M}" if entry.expires else "never"
    return (
        entry.name,
        entry.user,
        f"{expires} (expired)" if entry.is_expired(now) else expires,
        ", ".join(entry.grants) or "-",
    )
