"""Several named sites in one process, from a TOML file."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from atlassian_sandbox import Sandbox, sandbox_app
from mcp_atl.app import build
from mcp_atl.client import http
from mcp_atl.settings import AtlSettings
from mcp_atl.site import Access, AtlassianSite, Credentials, Secret
from mcp_atl.sites.file import read_sites
from mcp_core.process.start_errors import InvalidSetting
from tests.mcp_atl.server import Server

TWO_SITES = """\
[east]
url = "https://east.atlassian.net/wiki/"
email = "mia.keller@harbourline.example"
token_env = "EAST_TOKEN"
projects = ["app"]

["west coast"]
jira_url = "https://jira.west.example"
confluence_url = "https://jira.west.example/confluence"
token = "sandbox-token-jonas.weber"
read_only = true
spaces = [
  "eng",
]
ca_file = "ca.pem"
client_cert = "ca.pem"
client_key = "ca.pem"
proxy = "http://proxy.example:8080"
"""
VARIABLES = {"EAST_TOKEN": "sandbox-token-mia.keller"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "ca.pem").touch()
    path = tmp_path / "sites.toml"
    path.write_text(TWO_SITES, encoding="utf-8")
    return path


@pytest.mark.requirement("ATL-12")
def test_a_file_names_sites_with_all_that_they_need(file: Path):
    mia = Credentials("basic", "mia.keller@harbourline.example", Secret("sandbox-token-mia.keller"))
    jonas = Credentials("bearer", secret=Secret("sandbox-token-jonas.weber"))
    pem = str(file.parent / "ca.pem")
    east = AtlassianSite(
        "east",
        "cloud",
        jira_url="https://east.atlassian.net",
        confluence_url="https://east.atlassian.net",
        projects=frozenset({"APP"}),
    )
    west = AtlassianSite(
        "west coast",
        "datacenter",
        jira_url="https://jira.west.example",
        confluence_url="https://jira.west.example/confluence",
        spaces=frozenset({"ENG"}),
        read_only=True,
        ca_file=pem,
        client_cert=pem,
        client_key=pem,
        proxy="http://proxy.example:8080",
    )
    sites = read_sites(file, VARIABLES)
    assert sites == {"east": Access(east, mia, mia), "west coast": Access(west, jonas, jonas)}
    assert list(sites) == ["east", "west coast"]
    assert "sandbox-token" not in repr(sites)


CLOUD = '[a]\nurl = "https://a.atlassian.net"\n'


@pytest.mark.requirement("ATL-12")
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", r"has no site\. Add one: \[NAME\] with url"),
        ("[a\n", r"is not valid TOML: .*line 1"),
        ('url = "https://a.example"\n', r"url stands outside of a site"),
        ("\n[a]\nread_only = true\n", r", line 2: a\.url: is missing\. Give url, or jira_url"),
        (CLOUD + 'tokn = "secret-1"\n', r", line 3: a\.tokn: is not a known key\. Did you mean token\?"),
        (CLOUD + "\n[b]\nurl = 3\n", r", line 5: b\.url: input should be a valid string"),
        (CLOUD + 'kind = "server"\n', r", line 3: a\.kind: input should be 'cloud' or 'datacenter'"),
        (CLOUD + "projects = [\n  1,\n]\n", r", line 3: a\.projects\[0\]: input should be a valid string"),
        (CLOUD + 'token = "secret-1"\n', r", line 1: a\.email: is missing\. On Cloud"),
        (CLOUD + 'email = "e"\n', r", line 3: a\.email: needs token_env or token"),
        (
            CLOUD + 'email = "e"\ntoken_env = "NO"\n',
            r", line 4: a\.token_env: the environment variable 'NO' is not set",
        ),
        (CLOUD + 'token = "secret-1"\ntoken_env = "NO"\n', r", line 4: a\.token_env: token is given too"),
        (CLOUD + 'ca_file = "none.pem"\n', r", line 3: a\.ca_file: the file '.*none\.pem' does not exist"),
        (CLOUD + 'client_key = "none.pem"\n', r", line 3: a\.client_key: needs client_cert"),
        ('[a]\nurl = "http://a.example"\n', r", line 2: a\.url: must be an https address"),
        ('[a]\nurl = "https://u:secret-1@a.example"\n', r", line 2: a\.url: must be an https address without a user"),
        ('[a]\nurl = "https://[::1"\n', r", line 2: a\.url: is not an address"),
    ],
)
def test_an_error_says_the_line_and_the_field(tmp_path: Path, text: str, error: str):
    path = tmp_path / "sites.toml"
    path.write_text(text)
    with pytest.raises(InvalidSetting, match=error) as caught:
        read_sites(path, {})
    assert str(path) in str(caught.value)
    assert "secret-1" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path):
    with pytest.raises(InvalidSetting, match="cannot be read: "):
        read_sites(tmp_path / "none.toml", {})


@pytest.fixture
def sandboxes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Sandbox]:
    """The two sites of the file, in place of the network."""
    served = {"east": sandbox_app("cloud"), "west coast": sandbox_app("datacenter")}
    real = http.open_http

    def open_sandbox(site: AtlassianSite, transport: Any = None) -> httpx2.AsyncClient:
        assert transport is None
        plain = AtlassianSite(site.name, site.kind)
        return real(plain, httpx2.ASGITransport(served[site.name]))

    monkeypatch.setattr(http, "open_http", open_sandbox)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("EAST_TOKEN", VARIABLES["EAST_TOKEN"])
    return served


@pytest.mark.requirement("ATL-12")
async def test_several_sites_are_used_in_one_process(file: Path, sandboxes: dict[str, Sandbox]):
    async with build(AtlSettings(sites=file)) as app:
        server = Server(app, sandboxes["east"])
        health = await server.ok("health_check", response_fields=["site", "sites", "jira.user.name"])
        here = await server.ok("user_info", response_fields=["name"])
        there = await server.ok("user_info", site="west coast", response_fields=["name"])
        read_only = await server.refused("PermissionError", "comment", "APP-1", body="x", site="west coast")
        limited = await server.refused("PermissionError", "get", "FERRY-1")
        unknown = await server.refused("ValidationError", "get", "APP-1", site="north")
    assert health == {"site": "east", "sites": ["east", "west coast"], "jira": {"user": {"name": "Mia Keller"}}}
    assert (here["name"], there["name"]) == ("Mia Keller", "Jonas Weber")
    assert "'west coast' is read-only" in read_only
    assert "'FERRY' is not open to this server. Open projects: APP." in limited
    assert unknown == "The site 'north' is not configured. Configured sites: east, west coast."


@pytest.mark.requirement("ATL-12")
async def test_limits_of_the_server_do_not_widen_those_of_a_site(file: Path, sandboxes: dict[str, Sandbox]):
    async with build(AtlSettings(sites=file, projects=("app", "ferry"))) as app:
        server = Server(app, sandboxes["east"])
        await server.ok("get", "APP-1")
        await server.refused("PermissionError", "get", "FERRY-1")
        await server.refused("PermissionError", "comment", "APP-1", body="x", site="west coast")


@pytest.mark.requirement("ATL-12")
@pytest.mark.parametrize("name", ["east", "other"])
async def test_a_site_of_the_file_cannot_be_set_up_again(file: Path, sandboxes: dict[str, Sandbox], name: str):
    sandboxes["other"] = sandboxes["*"] = sandboxes["east"]
    parameters = {"name": name, "email": "mia.keller@harbourline.example", "token": "sandbox-token-mia.keller"}
    async with build(AtlSettings(sites=file)) as app:
        server = Server(app, sandboxes["east"])
        subject = "https://east.atlassian.net"
        error = await server.refused("PermissionError", "setup_atlassian_credentials", subject, **parameters)
        await server.refused("PermissionError", "get", "FERRY-1")
    assert "is configured in the file of --sites" in error
    kept = file.parent / "config" / "toolcharter" / "atlassian-sites.json"
    kept.parent.mkdir(parents=True)
    entry = {"name": name, "kind": "cloud", "jira_url": subject, "confluence_url": subject, "scheme": "none"}
    kept.write_text(json.dumps({name: entry}))
    async with build(AtlSettings(sites=file)) as app:
        await Server(app, sandboxes["east"]).refused("PermissionError", "get", "FERRY-1")
        health = await Server(app, sandboxes["east"]).ok("health_check", response_fields=["sites"])
    assert health == {"sites": ["east", "west coast"]}
