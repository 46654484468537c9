"""The Atlassian server, put together: its commands, and the sites that they use."""

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_atl.command import CommandEnvironment, command_of
from mcp_atl.example_data import prepare_examples
from mcp_atl.files import CallerFolders
from mcp_atl.settings import AtlSettings
from mcp_atl.site import Access, AtlassianSite
from mcp_atl.sites.callers import REQUEST_HEADERS, CallerPolicy
from mcp_atl.sites.environment import access_from_environment
from mcp_atl.sites.sites import Sites
from mcp_atl.sites.store import CredentialStore, default_store_path
from mcp_atl.tools.comment import comment
from mcp_atl.tools.create import create
from mcp_atl.tools.delete import delete
from mcp_atl.tools.files import download, upload
from mcp_atl.tools.get import get
from mcp_atl.tools.health import health_check
from mcp_atl.tools.help import help as help_command
from mcp_atl.tools.history import history
from mcp_atl.tools.link import link
from mcp_atl.tools.list import list as list_command
from mcp_atl.tools.move import move
from mcp_atl.tools.report import report
from mcp_atl.tools.search import search
from mcp_atl.tools.setup import setup_atlassian_credentials
from mcp_atl.tools.transition import transition
from mcp_atl.tools.update import update
from mcp_atl.tools.users import search_users, user_info
from mcp_atl.tools.worklog import worklog
from toolcharter import App, Naming
from toolcharter.errors import InvalidSetting
from toolcharter.keyring import system_keyring

if TYPE_CHECKING:
    from atlassian_sandbox import Sandbox

VERSION = "1.0.0"
SKILLS = Path(__file__).parent / "skills"
DESCRIPTION = "Jira and Confluence through one schema, on Cloud and Data Center."

COMMANDS: tuple[Callable[..., Any], ...] = (
    health_check,
    help_command,
    user_info,
    search_users,
    search,
    get,
    list_command,
    history,
    report,
    download,
    create,
    update,
    comment,
    transition,
    link,
    worklog,
    move,
    upload,
    delete,
    setup_atlassian_credentials,
)

SITE_SECONDS = 15.0
"""How long the site may take to answer a check."""

INSTRUCTIONS = (
    "Jira and Confluence. Every command takes product, subject, parameters and response_fields; help shows what a "
    "command takes. Ask for the response_fields that you need. Pages are edited by section or exact text: read the "
    "outline, then one section, and change only that."
)


def build(settings: AtlSettings, sandbox: "Sandbox | None" = None) -> App:
    """Make the server. A test passes its own sandbox, to see what was sent to it."""
    own = AtlSettings.of(settings)
    _check_commands(own.commands)
    offered = [function for function in COMMANDS if _is_offered(function, own)]
    app = App(
        "atl",
        strict=True,
        version=VERSION,
        title="Atlassian",
        description=DESCRIPTION,
        instructions=INSTRUCTIONS,
        tools=offered,
        naming=Naming("snake", "atl"),
        format="result",
        # Most of it is the time of the site.
        deadlines={"medium": 60},
        prepare_examples=prepare_examples,
        settings=settings,
        skills=SKILLS,
        request_headers=REQUEST_HEADERS,
        notice=partial(_notice, own),
    )
    app.provide(CommandEnvironment, partial(_open_server, own, offered, sandbox))
    app.add_check("site", partial(_check_site, app), needed=False, seconds=SITE_SECONDS)
    return app


async def _check_site(app: App) -> None:
    """Ask the default site who we are. Without one, callers bring their own."""
    from mcp_atl.client.confluence import confluence  # noqa: PLC0415 - 98 ms, httpx2, with the first call
    from mcp_atl.client.jira import jira  # noqa: PLC0415 - as above

    sites = app.provided(CommandEnvironment).sites
    if not sites.names or sites.credentials_required:
        return
    access = sites.access(None)
    connection = sites.connection(access)
    await (jira(connection).myself() if access.site.jira_url else confluence(connection).current_user())


def _check_commands(wanted: Sequence[str]) -> None:
    known = [command_of(function).name for function in COMMANDS]
    for name in wanted:
        if name not in known:
            raise InvalidSetting(f"--commands: {name!r} is not a command. Commands: {', '.join(known)}.")


def _is_offered(function: Callable[..., Any], settings: AtlSettings) -> bool:
    command = command_of(function)
    if settings.read_only and command.writes:
        return False
    return not settings.commands or command.name in settings.commands


async def _open_server(
    settings: AtlSettings, offered: Sequence[Callable[..., Any]], sandbox: "Sandbox | None", app: App
) -> AsyncGenerator[CommandEnvironment]:
    sites = _sites(settings, sandbox)
    commands = {command.name: command for command in map(command_of, offered)}
    try:
        yield CommandEnvironment(sites, CallerFolders(settings.files), commands, app.registry.naming.command)
    finally:
        await sites.close()


def _notice(settings: AtlSettings) -> str | None:
    """A notice for a person who starts the server without a site of their own."""
    if settings.sandbox:
        return "It serves the sandbox."
    known, _ = _known_sites(settings, CredentialStore(default_store_path(), system_keyring))
    if known or settings.allow_sites:
        return None
    return "It serves the sandbox, because no site is set up. To set up yours: mcp-atl login, or set ATLASSIAN_URL."


def _known_sites(settings: AtlSettings, store: CredentialStore) -> tuple[dict[str, Access], dict[str, Access]]:
    """All sites that are set up, and those of the file among them."""
    named = access_from_environment(os.environ)
    others = ({named.site.name: named} if named else {}) | store.load()
    fixed = _read_file(settings.sites) if settings.sites else {}
    # The file has the last word: what was set up elsewhere does not lift the limits that it sets.
    known = fixed | {
        name: one for name, one in others.items() if not any(one.site.is_same(other.site) for other in fixed.values())
    }
    return known, fixed


def _sites(settings: AtlSettings, sandbox: "Sandbox | None") -> Sites:
    """The sites of the file, the environment and the set-up; the sandbox where there are none."""
    store = CredentialStore(default_store_path(), system_keyring)
    if settings.sandbox:
        return _sandbox(settings, store, sandbox)
    known, fixed = _known_sites(settings, store)
    if not known and not settings.allow_sites:
        return _sandbox(settings, store, sandbox)
    restricted = {name: replace(one, site=_restricted(one.site, settings)) for name, one in known.items()}
    return Sites(restricted, store=store, callers=_caller_policy(settings), fixed=frozenset(fixed))


def _read_file(path: Path) -> dict[str, Access]:
    from mcp_atl.sites.file import read_sites  # noqa: PLC0415 - 10 ms, and most servers have one site

    return read_sites(path, os.environ)


def _sandbox(settings: AtlSettings, store: CredentialStore, sandbox: "Sandbox | None") -> Sites:
    kind = settings.sandbox_kind
    address = "https://sandbox.atlassian.net" if kind == "cloud" else "https://sandbox.example"
    pages = address if kind == "cloud" else f"{address}/confluence"
    site = AtlassianSite("sandbox", kind, jira_url=address, confluence_url=pages, sandbox=True)

    def transport() -> Any:
        from atlassian_sandbox import sandbox_app  # noqa: PLC0415 - 130 ms, and not needed with a real site
        from atlassian_sandbox.transport import SandboxTransport  # noqa: PLC0415 - 98 ms, httpx2

        return SandboxTransport(sandbox or sandbox_app(kind))

    return Sites(
        {"sandbox": Access(_restricted(site, settings))}, {"sandbox": transport}, store, _caller_policy(settings)
    )


def _caller_policy(settings: AtlSettings) -> CallerPolicy:
    restrict = partial(_restricted, settings=settings)
    return CallerPolicy(settings.require_own_credentials, tuple(settings.allow_sites), restrict)


def _restricted(site: AtlassianSite, settings: AtlSettings) -> AtlassianSite:
    return replace(
        site,
        read_only=site.read_only or settings.read_only,
        projects=_both(site.projects, settings.projects),
        spaces=_both(site.spaces, settings.spaces),
    )


def _both(of_site: frozenset[str] | None, of_server: Sequence[str]) -> frozenset[str] | None:
    """The keys that both allow. A limit of the server does not widen that of a site."""
    keys = frozenset(key.upper() for key in of_server) if of_server else None
    return of_site if keys is None else keys if of_site is None else keys & of_site
