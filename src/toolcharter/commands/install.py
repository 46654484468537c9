"""Add servers to an MCP client: in its own file, in its own form. Comments and everything else in the file stay.

Options after the name of a server are handed on to it: toolcharter install cursor todo --user ana. A path among them
is made absolute. The old file is kept as a copy beside it.
"""

import argparse
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from mcp_core.foreign.terminal import print_data, print_text
from mcp_core.mcp_log import redact_text
from toolcharter.clients import files
from toolcharter.clients.entry import ServerEntry
from toolcharter.clients.files import ClientFile
from toolcharter.clients.known import CLIENTS, KnownClient, Places
from toolcharter.clients.program import command_of
from toolcharter.commands import CannotRun, UsageError, name_and_value
from toolcharter.commands.interface import is_address
from toolcharter.local import targets
from toolcharter.packaging.launch import Launch, LaunchSetting, launch_of

PROJECT = "toolcharter"
"""The distribution of our own servers."""
NAMES = [client.name for client in CLIENTS]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. The names of servers and their options are read one after the other."""
    parser.usage = "%(prog)s CLIENT [options] [SERVER [options of the server] ...]"
    parser.add_argument("client", nargs="?", metavar="CLIENT", help=", ".join(NAMES))
    words = parser.add_argument(
        "words",
        nargs=argparse.REMAINDER,
        metavar="SERVER",
        help="an installed server, or a file.py; default: all installed ones that it lacks",
    )
    words.required = False
    add_own_options(parser)
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="variable for the server that it follows, such as a credential",
    )
    parser.set_defaults(takes_words=True)


def add_own_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this command, which may stand anywhere."""
    parser.add_argument("--print", action="store_true", dest="show", help="show the entry, and change nothing")
    parser.add_argument("--remove", action="store_true", help="take the servers out again")
    parser.add_argument(
        "--scope", choices=files.SCOPES, default="user", help="for you everywhere, or for all in this folder [user]"
    )
    parser.add_argument("--http", metavar="URL", help="the address of one server that runs, instead of a command")
    parser.add_argument("--token", help="bearer token for it, which the client's file then has [TOOLCHARTER_TOKEN]")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="ADDRESS",
        help="with --scope project: where others get toolcharter, such as git+https://HOST/NAME@COMMIT",
    )
    parser.add_argument("--force", action="store_true", help="write the file also if the client is not installed")


class Wanted(NamedTuple):
    """A server that was named, and the words that are handed on to it."""

    name: str
    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    """Its variables: those of the --env that follow its name."""


def run(options: argparse.Namespace) -> int:
    """Change the client's file, or show what would be in it."""
    places = Places.here()
    client = _client(options.client, places)
    named = _read_words(options)
    path = client.path(places, options.scope)
    if path is None:
        raise UsageError(f"{client.title} has no file for a project. Leave out --scope project.")
    file = ClientFile(client, path)
    wanted = named or _unnamed(file, options)
    if options.remove:
        return _remove(file, [one.name for one in wanted])
    entries = list(_entries(client, wanted, options))
    if options.show:
        print_data(file.show(entries) + "\n")
        return os.EX_OK
    if options.scope == "user" and not options.force and not client.is_installed(places):
        missing = client.trace(places)
        raise CannotRun(f"{client.title} is not installed: {missing} does not exist. To write its file anyway: --force")
    return _add(file, entries, is_shared=options.scope == "project")


def _client(name: str | None, places: Places) -> KnownClient:
    if name is None:
        here = ", ".join(one.name for one in CLIENTS if one.is_installed(places)) or "none"
        raise UsageError(f"Give the name of a client: {', '.join(NAMES)}. Found here: {here}.")
    found = next((one for one in CLIENTS if one.name == name), None)
    if found is None:
        nearest = get_close_matches(name, NAMES, n=1)
        hint = f"Did you mean {nearest[0]!r}? " if nearest else ""
        raise UsageError(f"No client {name!r} is known. {hint}Known: {', '.join(NAMES)}.")
    return found


def _add(file: ClientFile, entries: Sequence[ServerEntry], *, is_shared: bool) -> int:
    def edit(text: str) -> str:
        for entry in entries:
            text = file.put(text, entry)
        return text

    before = files.read_text(file.path)
    copy = files.change(file.path, edit, is_shared=is_shared)
    names = ", ".join(entry.name for entry in entries) or "all servers"
    if files.read_text(file.path) == before:
        print_text(f"{file.client.title} has {names} already. {file.path}")
        return os.EX_OK
    print_text(f"{file.client.title} now has {names}. {file.client.restart}.")
    _print_file(file.path, copy)
    known = {entry.name: entry for entry in file.entries(before)}
    for entry in file.read():
        if entry.name in {one.name for one in entries} and (old := known.get(entry.name)) is not None:
            _print_change(old, entry)
    print_text(f"To see whether it works: toolcharter doctor {file.client.name}")
    return os.EX_OK


def _print_change(old: ServerEntry, new: ServerEntry) -> None:
    """Say what was there under the same name, without variables, which may be secrets."""
    if (before := old.url or shlex.join(old.command)) != (new.url or shlex.join(new.command)):
        print_text(f"  {new.name} was there with another command, which is replaced: {redact_text(before)}")
    elif old.environment != new.environment:
        names = {*old.environment.items()} ^ {*new.environment.items()}
        print_text(f"  {new.name} was there; changed variables: {', '.join(sorted({name for name, _ in names}))}")
    if not new.is_enabled:
        print_text(f"  {new.name} is switched off there, and stays so. Switch it on in the client.")


def _remove(file: ClientFile, names: Sequence[str]) -> int:
    known = [entry.name for entry in file.read()]
    there = [name for name in names if name in known]
    if not there:
        print_text(f"{file.client.title} does not have {', '.join(names)}. {file.path}")
        return os.EX_OK

    copy = file.remove(there)
    print_text(f"{file.client.title} no longer has {', '.join(there)}. {file.client.restart}.")
    _print_file(file.path, copy)
    return os.EX_OK


def _print_file(path: Path, copy: Path | None) -> None:
    print_text(f"  {path}" + (f"   (the old file: {copy.name})" if copy else ""))


# --- the servers ----------------------------------------------------------------------------------------


def _entries(client: KnownClient, wanted: Sequence[Wanted], options: argparse.Namespace) -> Iterator[ServerEntry]:
    if options.http is not None:
        yield _remote(client, wanted, options)
        return
    is_shared = options.scope == "project"
    for one in wanted:
        launch = launch_of(one.name if is_shared else targets.absolute(one.name))
        # In a file that others use too, nothing may be a path of this machine.
        command = _shared_command(launch, options.source) if is_shared else command_of(launch)
        words = one.words if is_shared else tuple(_absolute_words(launch, one.words))
        yield ServerEntry(launch.name, (*command, *words), one.environment, description=launch.description)


def _shared_command(launch: Launch, source: str | None) -> tuple[str, ...]:
    """The command in a file that others use too: with uvx, from a source that they can reach."""
    if source is not None:
        return ("uvx", "--from", f"{launch.requirement()} @ {source}", *launch.command)
    if launch.distribution == PROJECT:
        raise UsageError(
            f"{PROJECT} is not in a package index, and others cannot use the one on this machine. Give its source: "
            "--from git+https://HOST/NAME@COMMIT, or the address of a wheel."
        )
    return launch.uvx(pinned=True)


def _remote(client: KnownClient, wanted: Sequence[Wanted], options: argparse.Namespace) -> ServerEntry:
    if not client.takes_addresses:
        raise UsageError(
            f"{client.title} reaches addresses only as connectors, which its settings have: Settings > Connectors. "
            "To let it start the server instead, leave out --http."
        )
    if not is_address(options.http):
        raise UsageError(f"{options.http!r} is not an address. Give one such as http://127.0.0.1:8000/todo/mcp.")
    if len(wanted) != 1:
        raise UsageError("--http is the address of one server. Give its name.")
    return ServerEntry(wanted[0].name, url=options.http, token=options.token or os.environ.get("TOOLCHARTER_TOKEN"))


def _absolute_words(launch: Launch, words: Sequence[str]) -> Iterator[str]:
    """The options of a server, with absolute paths: a client starts it in another folder."""
    settings = {setting.option: setting for setting in launch.settings}
    setting: LaunchSetting | None = None
    for word in words:
        name, separator, value = word.partition("=")
        if setting is not None:
            yield _absolute(setting, word)
            setting = None
        elif separator:
            yield f"{name}={_absolute(settings[name], value)}"
        else:
            yield word
            setting = None if settings[name].kind == "boolean" else settings[name]


def _absolute(setting: LaunchSetting, value: str) -> str:
    if setting.kind in ("directory", "file"):
        return str(Path(value).expanduser().absolute())
    scheme, separator, rest = value.partition(":///")
    if setting.name in ("db", "audit") and separator and scheme.startswith("sqlite") and not Path(rest).is_absolute():
        return f"{scheme}:///{Path(rest).absolute()}"
    return value


# --- the words ------------------------------------------------------------------------------------------


def _read_words(options: argparse.Namespace) -> list[Wanted]:
    """The servers with their words. Options of this command are taken out, wherever they stand."""
    parser = argparse.ArgumentParser(prog="toolcharter install", add_help=False, allow_abbrev=False)
    add_own_options(parser)
    own, words = parser.parse_known_args(options.words)
    for name, value in vars(own).items():
        if value != parser.get_default(name):
            setattr(options, name, value)
    is_name_enough = options.remove or options.http is not None
    if is_name_enough:
        if options.env or any(word.partition("=")[0] == "--env" for word in words):
            raise UsageError("--env sets a variable of a server that the client starts. Leave it out here.")
        return [Wanted(launch_of(word).name if targets.is_file(word) else word) for word in words]
    if options.env:
        raise UsageError("--env stands before the name of its server. Write: SERVER --env NAME=VALUE.")
    return list(_divide(words))


def _unnamed(file: ClientFile, options: argparse.Namespace) -> list[Wanted]:
    """All servers. Those that the client has are not added again: the options in their entries stay."""
    is_added = not (options.remove or options.show or options.http)
    there = {entry.name for entry in file.read()} if is_added else set[str]()
    return [Wanted(name) for name in targets.available() if name not in there]


def _divide(words: Sequence[str]) -> Iterator[Wanted]:
    """`todo --user ana atl --read-only` as two servers, each with its words."""
    rest = list(words)
    while rest:
        name = rest.pop(0)
        if name.startswith("-"):
            raise UsageError(f"The option {name} stands before the name of its server. Write: SERVER {name} ...")
        launch = _installed(name)
        settings = {setting.option: setting for setting in launch.settings if setting.option}
        own: list[str] = []
        environment: dict[str, str] = {}
        while rest and rest[0].startswith("-"):
            option, separator, value = rest[0].partition("=")
            if option == "--env":
                if not separator and len(rest) == 1:
                    raise UsageError(f"{name}: --env needs NAME=VALUE.")
                variable, text = name_and_value("--env", value if separator else rest[1])
                environment[variable] = text
                del rest[: 1 if separator else 2]
                continue
            setting = settings.get(option)
            if setting is None:
                raise UsageError(_unknown_option(name, option, list(settings)))
            length = 1 if separator or setting.kind == "boolean" else 2
            if len(rest) < length:
                raise UsageError(f"{name}: {option} needs a value.")
            own += rest[:length]
            del rest[:length]
        yield Wanted(name, tuple(own), environment)


def _installed(name: str) -> Launch:
    if targets.is_file(name):
        return launch_of(name)
    if name not in targets.known():
        raise UsageError(targets.not_installed(name, "or a file.py"))
    missing = targets.missing_libraries(name)
    if missing is not None:
        raise missing
    return launch_of(name)


def _unknown_option(server: str, name: str, known: Sequence[str]) -> str:
    nearest = get_close_matches(name, known, n=1, cutoff=0.7)
    hint = f"Did you mean {nearest[0]}?" if nearest else f"They are listed by: toolcharter stdio {server} --help"
    return f"{server} has no option {name} for a client that starts it. {hint}"
