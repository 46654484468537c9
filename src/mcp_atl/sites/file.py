"""Named sites from a TOML file (`--sites FILE`). The first one is the default.

[east]
url = "https://acme.atlassian.net"
email = "ann@acme.example"          # with an API token; leave it out for a personal access token
token_env = "ACME_TOKEN"            # or token = "..."; neither if callers bring their own
projects = ["APP", "FERRY"]         # reach only these; the same with spaces
read_only = true

[west]
kind = "datacenter"
jira_url = "https://jira.west.example"
confluence_url = "https://wiki.west.example"
token_env = "WEST_TOKEN"
ca_file = "west-ca.pem"             # paths are relative to this file
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from mcp_atl.site import Access, AtlassianSite, Credentials, Kind, Secret
from mcp_atl.sites.environment import kind_of, site_root
from toolcharter.errors import InvalidSetting
from toolcharter.files import TomlFile, read_toml

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _Entry(BaseModel):
    """One site of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    kind: Kind | None = None
    url: str | None = None
    jira_url: str | None = None
    confluence_url: str | None = None
    cloud_id: str | None = None
    email: str | None = Field(default=None, min_length=1)
    token: str | None = Field(default=None, min_length=1, repr=False)
    token_env: str | None = Field(default=None, min_length=1)
    projects: list[str] | None = None
    spaces: list[str] | None = None
    read_only: bool = False
    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None
    proxy: str | None = Field(default=None, repr=False)


class _Problem(Exception):
    """A problem with a field of a site."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def read_sites(path: Path, variables: Mapping[str, str]) -> dict[str, Access]:
    """The sites of a file, in its order. Raises InvalidSetting with the line and the field that is wrong."""
    file = read_toml(path)
    if not file.content:
        raise InvalidSetting(f"{path} has no site. Add one: [NAME] with url, email and token_env.")
    return {name: _access(name, entry, file, variables) for name, entry in file.content.items()}


def _access(name: str, fields: Any, file: TomlFile, variables: Mapping[str, str]) -> Access:
    if not isinstance(fields, dict):
        raise InvalidSetting(f"{file.path}: {name} stands outside of a site. Put it below a line [NAME].")
    entry = file.read(_Entry, fields, (name,))
    try:
        site = _site(name, entry, file.path.parent)
        credentials = _credentials(entry, site, variables)
    except _Problem as problem:
        raise file.error((name, problem.field), str(problem)) from None
    return Access(site, credentials, credentials)


def _site(name: str, entry: _Entry, folder: Path) -> AtlassianSite:
    jira, confluence = entry.jira_url or entry.url, entry.confluence_url or entry.url
    for field in ("url", "jira_url", "confluence_url"):
        _check_address(field, getattr(entry, field))
    address = jira or confluence
    if address is None:
        raise _Problem("url", "is missing. Give url, or jira_url and confluence_url.")
    if entry.client_key is not None and entry.client_cert is None:
        raise _Problem("client_key", "needs client_cert.")
    return AtlassianSite(
        name=name,
        kind=entry.kind or kind_of(address),
        jira_url=site_root(jira),
        confluence_url=site_root(confluence),
        cloud_id=entry.cloud_id,
        projects=_keys(entry.projects),
        spaces=_keys(entry.spaces),
        read_only=entry.read_only,
        ca_file=_file(folder, "ca_file", entry.ca_file),
        client_cert=_file(folder, "client_cert", entry.client_cert),
        client_key=_file(folder, "client_key", entry.client_key),
        proxy=entry.proxy,
    )


def _check_address(field: str, address: str | None) -> None:
    if address is None:
        return
    try:
        url = urlsplit(address)
        secure = url.scheme == "https" or (url.scheme == "http" and url.hostname in _LOOPBACK)
    except ValueError:
        raise _Problem(field, "is not an address. Write https://acme.atlassian.net.") from None
    if not secure or not url.hostname or url.username or url.password:
        raise _Problem(field, "must be an https address without a user, such as https://acme.atlassian.net.")


def _keys(keys: Sequence[str] | None) -> frozenset[str] | None:
    return None if keys is None else frozenset(key.upper() for key in keys)


def _file(folder: Path, field: str, name: str | None) -> str | None:
    if name is None:
        return None
    path = folder / Path(name).expanduser()
    if not path.is_file():
        raise _Problem(field, f"the file {str(path)!r} does not exist.")
    return str(path)


def _credentials(entry: _Entry, site: AtlassianSite, variables: Mapping[str, str]) -> Credentials:
    if entry.token is not None and entry.token_env is not None:
        raise _Problem("token_env", "token is given too. Keep one of them.")
    token = entry.token
    if entry.token_env is not None:
        token = variables.get(entry.token_env)
        if not token:
            raise _Problem("token_env", f"the environment variable {entry.token_env!r} is not set.")
    if token is None:
        if entry.email is not None:
            raise _Problem("email", "needs token_env or token.")
        return Credentials()
    if entry.email is not None:
        return Credentials("basic", entry.email, Secret(token))
    if site.is_cloud and site.cloud_id is None:
        raise _Problem("email", "is missing. On Cloud, an API token belongs to an e-mail address.")
    return Credentials("bearer", secret=Secret(token))
