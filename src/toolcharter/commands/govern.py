"""Govern the MCP servers of other people: policies, confirmations, limits, pins and a log for every tool behind them.

toolcharter govern add NAME -- COMMAND   govern a server that a command starts, and approve its tools
toolcharter govern add NAME URL          govern a server at an address
toolcharter govern import [--apply]      govern the servers of your clients, and point the clients here
toolcharter govern status                what is governed, and what waits for a decision
toolcharter govern review [NAME]         what changed since it was approved
toolcharter govern approve NAME [TOOL]   accept what the server shows now
toolcharter govern login NAME            sign in to a server with the browser; --caller WHO for a user over HTTP
toolcharter govern logout NAME           forget the sign-in
toolcharter govern deny NAME:TOOL        hide a tool, and refuse its calls
toolcharter govern remove NAME           no longer govern a server
toolcharter govern [stdio | http]        serve all of them to a client
"""

import argparse
import difflib
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import platformdirs

from mcp_core import mcp_log
from mcp_core.declare.listed import ListedTool
from mcp_core.errors import SignInRequired, ToolError
from mcp_core.foreign.terminal import print_text
from mcp_core.mcp_log import is_secret_name
from mcp_core.process.interrupt import run_interruptible
from mcp_core.schema.fields import object_at
from mcp_core.settings.sources import add_options, from_options
from mcp_core.text.plurals import count
from toolcharter.commands import CannotRun, UsageError, name_and_value
from toolcharter.commands.interface import is_address
from toolcharter.contract import report
from toolcharter.govern.charter import Charter, is_name, read_or_new
from toolcharter.govern.governor import Governor
from toolcharter.govern.pins import Quarantine, lock_file, read_pins, remove_files, security_findings
from toolcharter.govern.policies import matches
from toolcharter.serving.otlp import set_up_export

VARIABLE = "TOOLCHARTER_CHARTER"
WAITING = 1
"""The exit code of `review` if something waits for a decision."""
_FEW_VARIABLES = (
    "It gets PATH, HOME and a few more of your variables. For others: --env NAME=VALUE, or --secret NAME=env:NAME."
)
_SERVE = ("stdio", "http")
_ACTIONS = (*_SERVE, "add", "import", "status", "review", "approve", "login", "logout", "deny", "remove")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.usage = "%(prog)s [ACTION] [NAME] [options]"
    parser.add_argument("action", nargs="?", default="stdio", metavar="ACTION", help="see above; default: stdio")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a server, an address or tools, as the action takes")
    parser.add_argument(
        "--charter",
        type=Path,
        metavar="FILE",
        default=os.environ.get(VARIABLE),
        help=f"the file of servers and policies; default: charter.toml in your configuration folder [{VARIABLE}]",
    )
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="with add: a variable of the command"
    )
    parser.add_argument(
        "--secret",
        action="append",
        default=[],
        metavar="NAME=PLACE",
        help="with add: a secret, by variable (command) or header (address); "
        "PLACE is env:NAME, keyring:NAME or file:PATH",
    )
    parser.add_argument("--apply", action="store_true", help="with import: add what was found, and change the clients")
    parser.add_argument("--caller", metavar="WHO", help="with login and logout: a user of the governor over HTTP")
    parser.add_argument("--no-browser", action="store_true", help="with login: only print the address")
    add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Carry out the action."""
    if options.action not in _ACTIONS:
        nearest = difflib.get_close_matches(str(options.action), _ACTIONS, n=1)
        hint = f"Did you mean {nearest[0]!r}? " if nearest else ""
        raise UsageError(f"{options.action!r} is not an action. {hint}Actions: {', '.join(_ACTIONS)}.")
    path = (options.charter or platformdirs.user_config_path("toolcharter") / "charter.toml").absolute()
    if options.action == "add":
        return run_interruptible(_add(path, options))
    if options.action == "import":
        from toolcharter.commands.govern_import import import_servers  # noqa: PLC0415 - 30 ms and 1 MB, with YAML

        add_server = partial(_add_server, path, options=options)
        return run_interruptible(import_servers(path, add_server, apply=options.apply))
    charter = read_or_new(path)
    if options.action in _SERVE:
        return _serve(path, charter, options)
    if options.action in ("login", "logout"):
        return _sign_in_or_out(path, charter, options)
    if options.action in ("deny", "remove"):
        change = _deny if options.action == "deny" else _remove
        return change(path, charter, options.names)
    names: list[str] = options.names
    chosen = names[:1] or list(charter.upstream)
    for name in chosen:
        _require(charter, name, path)
    governor = _governor(path, charter, options)
    if options.action == "approve":
        if not names:
            raise UsageError("Name the server: toolcharter govern approve NAME [TOOL ...].")
        return run_interruptible(_approve(governor, names[0], names[1:]))
    return run_interruptible(_show(governor, path, chosen, in_full=options.action == "review"))


def _governor(path: Path, charter: Charter, options: argparse.Namespace) -> Governor:
    settings = from_options(options)
    # The other actions print what a server logs.
    level = settings.log_level if options.action in _SERVE else "ERROR"
    mcp_log.configure(level, file=settings.log_file, as_json=settings.log_json)
    if options.action in _SERVE:
        set_up_export(settings.otlp, "toolcharter")
    return Governor(path, charter, settings, version("toolcharter"))


def _require(charter: Charter, name: str, path: Path) -> None:
    if name not in charter.upstream:
        known = ", ".join(charter.upstream) or "none"
        raise CannotRun(f"{path} has no server {name!r}. Governed: {known}. Add one: toolcharter govern add NAME.")


def _sign_in_or_out(path: Path, charter: Charter, options: argparse.Namespace) -> int:
    from toolcharter.commands import govern_sign_in  # noqa: PLC0415 - 60 ms

    for name in options.names:
        _require(charter, name, path)
    if options.action == "logout":
        run_interruptible(govern_sign_in.logout(path, charter, options.names, options.caller))
    elif len(options.names) != 1:
        raise UsageError("Name the server: toolcharter govern login NAME [--caller WHO].")
    else:
        run_interruptible(govern_sign_in.login(path, charter, options.names[0], options))
    return os.EX_OK


def _serve(path: Path, charter: Charter, options: argparse.Namespace) -> int:
    if not charter.upstream:
        raise CannotRun(f"{path} has no server. Add one: toolcharter govern add NAME -- COMMAND.")
    governor = _governor(path, charter, options)
    if options.action == "stdio":
        from toolcharter.serving.run import Program, run_stdio  # noqa: PLC0415 - only this action needs it

        governor.sign_ins.invite_here()
        run_stdio(governor.all_tools, from_options(options), Program("toolcharter govern"), sys.argv[1:])
    else:
        from toolcharter.console import Console  # noqa: PLC0415 - loaded with it
        from toolcharter.serving.http import serve_http  # noqa: PLC0415 - 65 ms that stdio does not need

        serve_http(
            [governor.all_tools, *governor.apps.values()], from_options(options), partial(Console, governor=governor)
        )
    return os.EX_OK


async def _add(path: Path, options: argparse.Namespace) -> int:
    if not options.names:
        raise UsageError("Name the server: toolcharter govern add NAME -- COMMAND, or toolcharter govern add NAME URL.")
    name, *rest = options.names
    if not is_name(name):
        raise UsageError(f"{name!r} cannot be a name: use lower-case letters, digits and '-', at most 32.")
    if options.command:
        fields: dict[str, Any] = {"command": list(options.command)}
    elif len(rest) == 1 and is_address(rest[0]):
        fields = {"url": rest[0]}
    else:
        raise UsageError("Give the command that starts the server after --, or its address.")
    for key, option, words in (("env", "--env", options.env), ("secrets", "--secret", options.secret)):
        if words:
            fields[key] = dict(name_and_value(option, word) for word in words)
    await _add_server(path, name, fields, options, can_sign_in=True)
    print_text("Point your client at: toolcharter govern")
    return os.EX_OK


async def _add_server(
    path: Path, name: str, fields: Mapping[str, Any], options: argparse.Namespace, *, can_sign_in: bool = False
) -> None:
    """Add a server to the charter, and approve the tools in which no security rule finds anything."""
    from toolcharter.govern import charter_file  # noqa: PLC0415 - 30 ms and 1 MB, which serving does not need

    charter_file.add_upstream(path, name, fields)
    is_added = False
    try:
        governor, shown = await _first_look(path, name, options, can_sign_in=can_sign_in)
        is_added = True
    except SignInRequired:
        address = fields.get("url")
        raise CannotRun(f"{name} requires a sign-in: toolcharter govern add {name} {address}") from None
    except (ToolError, CannotRun) as error:
        problem = f"{str(error).removesuffix(' Nothing was changed.')} Nothing was added."
        raise CannotRun("\n".join([problem, *getattr(error, "__notes__", ())])) from None
    finally:
        if not is_added:
            charter_file.remove_upstream(path, name)
    suspicious = security_findings(shown)
    approved = governor.approve(name, shown, [tool.name for tool in shown if tool.name not in suspicious] or [""])
    print_text(f"{name} is governed: {count(len(approved), 'tool')} approved. {path}")
    if secret := [variable for variable in fields.get("env", {}) if is_secret_name(variable)]:
        better = f'secrets = {{ {secret[0]} = "file:PATH" }}'
        print_text(f"  {', '.join(secret)} is in that file as text. You can move it: {better}")
    for tool, findings in suspicious.items():
        print_text(f"  {tool} waits for your decision: {findings[0].rule} {findings[0].message}")
    if suspicious:
        print_text(f"Look at them: toolcharter govern review {name}")


async def _first_look(
    path: Path, name: str, options: argparse.Namespace, *, can_sign_in: bool
) -> tuple[Governor, Sequence[ListedTool]]:
    """The tools of a new server. If it requires that, sign in first."""
    governor = _governor(path, read_or_new(path), options)
    try:
        return governor, await governor.look(name)
    except SignInRequired:
        if not can_sign_in:
            raise
    except ToolError as error:
        if output := _output(governor, name):
            error.add_note(f"{output}\n{_FEW_VARIABLES}")
        raise
    finally:
        await governor.close()
    from toolcharter.commands.govern_sign_in import login  # noqa: PLC0415 - 160 ms, loaded by now

    await login(path, read_or_new(path), name, options)
    return await _first_look(path, name, options, can_sign_in=False)


async def _approve(governor: Governor, name: str, tools: Sequence[str]) -> int:
    try:
        shown = await governor.look(name)
    except ToolError as error:
        raise CannotRun(str(error)) from None
    finally:
        await governor.close()
    if unknown := set(tools) - {tool.name for tool in shown}:
        raise CannotRun(f"{name} does not list {', '.join(sorted(unknown))}. Nothing was approved.")
    approved = governor.approve(name, shown, tools)
    print_text(f"{name}: {count(len(approved), 'tool')} approved as shown now.")
    return os.EX_OK


async def _show(governor: Governor, path: Path, names: Sequence[str], *, in_full: bool) -> int:
    waiting = 0
    try:
        for name in names:
            try:
                await governor.look(name)
            except ToolError as error:
                print_text(f"{name}: not available. {error!s}")
                if output := _output(governor, name):
                    print_text(output)
                _print_sign_ins(governor, name)
                continue
            undecided = governor.waiting(name)
            waiting += len(undecided)
            offers = await governor.count_offers(name)
            print_text(_summary(name, governor, offers, has_pins=lock_file(path, name).exists()))
            _print_sign_ins(governor, name)
            for tool, quarantine in undecided.items():
                print_text(_details(tool, quarantine, in_full=in_full))
    finally:
        await governor.close()
    if not names:
        print_text(f"No server is governed. Add one: toolcharter govern add NAME -- COMMAND. {path}")
    if waiting and not in_full:
        print_text("Look at what waits for your decision: toolcharter govern review")
    if waiting and in_full:
        print_text("Approve: toolcharter govern approve NAME [TOOL]. Hide: toolcharter govern deny NAME:TOOL.")
    return WAITING if waiting and in_full else os.EX_OK


def _output(governor: Governor, name: str) -> str:
    """The last output of the process of a server that cannot be reached, for a person."""
    lines = [line for line in governor.upstreams[name].last_lines if line.strip()]
    return "\n".join(["It wrote:", *(f"  {line}" for line in lines)]) if lines else ""


def _print_sign_ins(governor: Governor, name: str) -> None:
    if (signing := governor.sign_ins.signing[name]) is not None:
        from toolcharter.commands.govern_sign_in import describe_sign_ins  # noqa: PLC0415 - 160 ms, loaded by now

        print_text(describe_sign_ins(signing))


def _summary(name: str, governor: Governor, offers: Mapping[str, int], *, has_pins: bool) -> str:
    comparison, denied, waiting = governor.comparisons[name], governor.denied(name), governor.waiting(name)
    parts = [f"{count(len(comparison.approved.keys() - set(denied)), 'tool')} served"]
    if denied:
        parts.append(f"{len(denied)} denied")
    if waiting:
        parts.append(f"{len(waiting)} quarantined")
    if comparison.missing:
        parts.append(f"{len(comparison.missing)} no longer listed: {', '.join(sorted(comparison.missing))}")
    parts += [count(number, what) for what, number in offers.items() if number]
    if not has_pins:
        parts.append("nothing approved yet")
    return f"{name}: {', '.join(parts)}"


def _details(tool: str, quarantine: Quarantine, *, in_full: bool) -> str:
    lines = [f"  {tool}: {quarantine.reason}"]
    if in_full and quarantine.changes:
        lines += [f"    {line}" for line in report.to_text(list(quarantine.changes), for_author=False).splitlines()]
    if in_full and quarantine.added is not None:
        lines += [f"    {line}" for line in _definition(quarantine.added)]
    if in_full:
        lines += [f"    {one.rule} {one.name}: {one.message}" for one in quarantine.findings]
    return "\n".join(lines)


def _definition(tool: ListedTool) -> list[str]:
    """The definition of a new tool, for a person."""
    arguments = ", ".join(object_at(tool.input_schema, "properties")) or "none"
    lines = [*tool.description.strip().splitlines(), f"Arguments: {arguments}"]
    return [line for line in lines if line.strip()]


def _deny(path: Path, charter: Charter, patterns: Sequence[str]) -> int:
    if not patterns:
        raise UsageError('Name the tools: toolcharter govern deny NAME:TOOL. "NAME:delete_*" denies several.')
    for pattern in patterns:
        server, colon, _ = pattern.partition(":")
        _require(charter, server, path)
        if not colon:
            raise UsageError(f'{server!r} is a server. Name its tools: {server}:TOOL; "{server}:*" denies all of them.')
    from toolcharter.govern import charter_file  # noqa: PLC0415 - as above

    charter_file.deny_tools(path, patterns)
    print_text(f"Denied: {', '.join(patterns)}.")
    for pattern in patterns:
        _warn_unmatched(path, pattern)
    return os.EX_OK


def _warn_unmatched(path: Path, pattern: str) -> None:
    """Warn of a pattern that means none of the approved tools: it may have a mistake."""
    server, _, tool = pattern.partition(":")
    pins = read_pins(lock_file(path, server))
    known = [] if pins is None else list(pins.tools)
    if not any(matches(pattern, server, name) for name in known):
        nearest = difflib.get_close_matches(tool, known, n=2, cutoff=0.5)
        hint = f" Did you mean {' or '.join(nearest)}?" if nearest else ""
        print_text(f"No approved tool of {server} is called {tool!r}. If it lists one, that is denied.{hint}")


def _remove(path: Path, charter: Charter, names: Sequence[str]) -> int:
    if not names:
        raise UsageError("Name the server: toolcharter govern remove NAME.")
    from toolcharter.govern import charter_file  # noqa: PLC0415 - as above

    for name in names:
        _require(charter, name, path)
        if charter.upstream[name].oauth is not None:
            from toolcharter.govern.oauth.store import SignInStore  # noqa: PLC0415 - few servers need it

            SignInStore(path).forget(name)
        charter_file.remove_upstream(path, name)
        remove_files(path, name)
    print_text(f"No longer governed: {', '.join(names)}.")
    return os.EX_OK
