"""Which scopes clients are told to request, and when."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcp_core import App, Caller, Settings
from mcp_core.hosts.fast_path.http import HttpFastPath
from mcp_core.hosts.resource_metadata import challenge, metadata_document, missing_scopes, requested_scopes
from mcp_core.hosts.sdk.server import HttpFront
from tests.mcp_core.declared import mutation, query

POLICY = """
[roles.reader]
allow = ["cards:read"]
[roles.editor]
allow = ["cards:*"]
deny = ["cards:delete"]
[[members]]
role = "reader"
everyone = true
[[members]]
role = "editor"
scopes = ["cards.edit", "cards.all"]
"""


@query(permissions=["cards:read"])
async def read_card() -> str:
    return "a card"


@mutation(permissions=["cards:write"])
async def write_card() -> str:
    return "written"


@mutation(permissions=["cards:delete"])
async def delete_card() -> str:
    return "gone"


def build(name: str = "cards", audience: str = "https://tools.example", **settings: Any) -> App:
    options = {"oidc": "https://issuer.example", "audience": (audience,), **settings}
    tools = [read_card, write_card, delete_card]
    return App(name, version="1.0.0", title="Cards", tools=tools, settings=Settings(**options))


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY)
    return path


def token(*scopes: str, grants: tuple[str, ...] = (), denied: tuple[str, ...] = ()) -> Caller:
    return Caller("user:ann", "ann", frozenset(grants), frozenset(denied), frozenset(scopes))


def test_clients_request_the_permissions_or_what_the_policy_or_the_setting_names(policy: Path):
    assert requested_scopes(build()) == ("cards:delete", "cards:read", "cards:write")
    assert requested_scopes(build(policy=policy)) == ("cards.edit", "cards.all")
    assert requested_scopes(build(policy=policy, scopes=("openid", "tools"))) == ("openid", "tools")
    assert requested_scopes(App("plain", version="1.0.0", settings=Settings())) == ()


def test_without_a_policy_the_missing_permissions_are_the_scopes():
    app = build()
    assert missing_scopes(app, token("openid", grants=("openid",)), "write_card") == ("cards:write", "openid")
    assert missing_scopes(app, token("cards:write", grants=("cards:write",)), "write_card") == ()
    assert missing_scopes(app, token(), "no_such_tool") == ()


def test_a_caller_whom_no_scope_would_help_is_not_sent_to_the_issuer(policy: Path):
    app = build(policy=policy)
    assert missing_scopes(app, token("x", grants=("cards:read",)), "write_card") == ("cards.edit", "x")
    assert missing_scopes(app, token(grants=("cards:read",)), "delete_card") == ()
    assert missing_scopes(app, token("cards.edit"), "write_card") == ()
    assert missing_scopes(app, Caller("user:bot", "bot"), "write_card") == ()  # a static token
    assert missing_scopes(build(), token(denied=("cards:write",)), "write_card") == ()


@pytest.mark.parametrize(
    ("audience", "resource", "metadata"),
    [
        (
            "https://tools.example",
            "https://tools.example",
            "https://tools.example/.well-known/oauth-protected-resource",
        ),
        ("https://a.example/x/", "https://a.example/x", "https://a.example/.well-known/oauth-protected-resource/x"),
        ("https://a.example/mcp", "https://a.example", "https://a.example/.well-known/oauth-protected-resource"),
        ("https://a.example/cards/mcp", "https://a.example", "https://a.example/.well-known/oauth-protected-resource"),
    ],
)
def test_addresses_are_public_ones(audience: str, resource: str, metadata: str):
    app = build(audience=audience)
    assert challenge(app, "/cards/mcp", None, ["a"]) == (f'Bearer resource_metadata="{metadata}/cards/mcp", scope="a"')
    for path in ("/cards/mcp", "/mcp"):
        well_known = f"/.well-known/oauth-protected-resource{path}"
        document = metadata_document([app], well_known)
        assert document is not None
        assert document["resource"] == resource + path
        assert metadata_document([app], metadata.partition("example")[2] + path) == document


def test_each_of_several_servers_has_its_own_metadata():
    apps = [build("cards"), build("notes")]
    well_known = "/.well-known/oauth-protected-resource"
    found = [metadata_document(apps, well_known + path) for path in ("/cards/mcp", "/notes/mcp", "/mcp", "", "/other")]
    assert [document and document["resource"] for document in found] == [
        "https://tools.example/cards/mcp",
        "https://tools.example/notes/mcp",
        None,
        None,
        None,
    ]


def test_an_app_with_all_tools_is_described_at_mcp_and_at_the_root():
    apps = [build("cards"), build("notes")]
    apps[1].has_all_tools = True
    well_known = "/.well-known/oauth-protected-resource"
    found = [metadata_document(apps, well_known + path) for path in ("/cards/mcp", "/notes/mcp", "/mcp", "")]
    assert [document and document["resource"] for document in found] == [
        "https://tools.example/cards/mcp",
        "https://tools.example/notes/mcp",
        "https://tools.example/mcp",
        "https://tools.example/mcp",
    ]


def test_without_an_issuer_a_challenge_names_none(tmp_path: Path):
    app = App("plain", version="1.0.0", settings=Settings())
    assert challenge(app, "/mcp", None) == "Bearer"
    assert challenge(app, "/mcp", "invalid_token") == 'Bearer error="invalid_token"'
    assert metadata_document([app], "/.well-known/oauth-protected-resource/mcp") is None


@pytest.mark.parametrize("front", [HttpFastPath, HttpFront])
@pytest.mark.parametrize("path", ["/cards/mcp", "/mcp"])
async def test_both_hosts_lead_to_the_issuer(front: Callable[[App], Any], path: str):
    transport = httpx2.ASGITransport(front(build()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
        for headers, error in (({}, ""), ({"Authorization": "Bearer x"}, 'error="invalid_token", ')):
            answer = await http.post(path, json={}, headers=headers)
            metadata = f"https://tools.example/.well-known/oauth-protected-resource{path}"
            scope = "cards:delete cards:read cards:write"
            expected = f'Bearer {error}resource_metadata="{metadata}", scope="{scope}"'
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, expected)
