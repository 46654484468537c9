import logging
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from mcp_core import App, Caller, Settings
from mcp_core.auth.permissions import Principal, ScopesAsPermissions
from mcp_core.auth.policy import PolicyFile, read_policy
from mcp_core.auth.token_list import TokenEntry, write_tokens
from mcp_core.process.start_errors import InvalidSetting

POLICY = """
groups_claim = "realm_access.roles"

[roles.reader]
allow = ["cards:read", "decks:read"]

[roles.editor]
allow = ["cards:*"]
deny = ["cards:delete"]

[roles.admin]
allow = ["*"]

[[members]]
role = "reader"
everyone = true

[[members]]
role = "editor"
groups = ["staff", "teachers"]
claims = { email_verified = true, site = ["north", "south"] }

[[members]]
role = "editor"
scopes = ["cards.edit"]

[[members]]
role = "admin"
users = ["ann"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY)
    return path


def claims(*groups: str, verified: Any = True, site: Any = "north") -> dict[str, Any]:
    return {"realm_access": {"roles": list(groups)}, "email_verified": verified, "site": site}


READER = {"cards:read", "decks:read"}
EDITOR = READER | {"cards:*"}


@pytest.mark.parametrize(
    ("principal", "grants", "denied"),
    [
        (Principal("zoe"), READER, set()),
        (Principal("zoe", scopes=frozenset({"cards:write", "*"})), READER, set()),
        (Principal("zoe", scopes=frozenset({"cards.edit"})), EDITOR, {"cards:delete"}),
        (Principal("zoe", claims=claims("staff")), EDITOR, {"cards:delete"}),
        (Principal("zoe", claims=claims("x", "teachers", site=["east", "south"])), EDITOR, {"cards:delete"}),
        (Principal("zoe", claims=claims("staff", verified=1)), READER, set()),
        (Principal("zoe", claims=claims("staff", verified="true")), READER, set()),
        (Principal("zoe", claims=claims("staff", site="west")), READER, set()),
        (Principal("zoe", claims=claims("staff", site=None)), READER, set()),
        (Principal("zoe", claims=claims("staffs")), READER, set()),
        (Principal("zoe", claims={"realm_access": "staff", "email_verified": True, "site": "north"}), READER, set()),
        (Principal("zoe", claims={"realm_access.roles": "staff"} | claims()), EDITOR, {"cards:delete"}),
        (Principal("ann"), READER | {"*"}, set()),
        (Principal("ann", claims=claims("staff")), EDITOR | {"*"}, {"cards:delete"}),
        (Principal("bot", grants=frozenset({"cards:delete"})), READER | {"cards:delete"}, set()),
    ],
)
def test_a_caller_has_the_permissions_of_all_their_roles(file: Path, principal: Principal, grants: Any, denied: Any):
    expected = Caller(f"user:{principal.user}", principal.user, frozenset(grants), frozenset(denied), principal.scopes)
    assert read_policy(file).caller(principal) == expected


def test_deny_wins_over_every_other_role_and_over_the_grants_of_a_token(file: Path):
    policy = read_policy(file)
    everything = Principal("ann", frozenset({"cards:delete", "*"}), frozenset({"cards.edit"}))
    assert policy.caller(everything).lacks(("cards:write", "cards:delete")) == ("cards:delete",)


def test_clients_are_told_the_scopes_that_would_help(file: Path):
    policy = read_policy(file)
    assert policy.scopes == ("cards.edit",)
    assert policy.scopes_for(["cards:write", "cards:read"]) == ("cards.edit",)
    assert policy.scopes_for(["cards:delete"]) == ()
    assert policy.scopes_for(["cards:write", "decks:write"]) == ()


def test_without_a_policy_a_scope_is_the_permission_of_its_name_but_never_a_wildcard():
    scopes = frozenset({"cards:read", "openid", "*", "decks:*"})
    caller = ScopesAsPermissions().caller(Principal("zoe", scopes=scopes))
    assert caller == Caller("user:zoe", "zoe", frozenset({"cards:read", "openid"}), scopes=scopes)
    assert ScopesAsPermissions().scopes_for(["cards:write"]) == ("cards:write",)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('users = ["ann"]', 'user = ["ann"]', "line 29: members[3].user: this key does not exist."),
        ('role = "admin"', 'role = "admins"', "line 28: members[3].role: no role 'admins' exists. Roles: reader, e"),
        ('role = "admin"\n', "", "line 27: members[3].role: this key is required."),
        ('users = ["ann"]', "", "line 27: members[3]: nobody is named. Give users, groups, scopes or claims, or every"),
        ('allow = ["*"]', 'allow = "*"', "line 12: roles.admin.allow: input should be a valid list, got '*'."),
        (
            '["cards:delete"]',
            '["cards"]',
            "line 9: roles.editor.deny[0]: 'cards' is not a permission; write cards:read",
        ),
        ('["cards:delete"]', '["ca*:x"]', "line 9: roles.editor.deny[0]: 'ca*:x' is not a permission; write cards:re"),
        ("everyone = true", "everyone = 1", "line 16: members[0].everyone: input should be a valid boolean, got 1."),
        ("everyone = true", 'everyone = true\nusers=["a"]', "line 16: members[0].everyone: everyone has the role, so"),
        (
            "[roles.reader]",
            "[roles.reader",
            "is not valid TOML: Expected ']' at the end of a table declaration (at line",
        ),
        (POLICY, "", "line 1: roles: this key is required."),
    ],
)
def test_an_error_names_the_line_and_the_key(file: Path, old: str, new: str, problem: str):
    file.write_text(POLICY.replace(old, new))
    with pytest.raises(InvalidSetting) as error:
        read_policy(file)
    assert problem in str(error.value)
    assert str(file) in str(error.value)


def test_a_policy_that_does_not_exist_stops_the_server(tmp_path: Path):
    with pytest.raises(InvalidSetting, match=r"none.toml cannot be read: No such file or directory."):
        read_policy(tmp_path / "none.toml")


def test_a_policy_is_read_again_and_a_broken_one_changes_nothing(file: Path, caplog: pytest.LogCaptureFixture):
    policy = PolicyFile(file)
    assert policy.caller(Principal("ann")).lacks(("cards:delete",)) == ()
    file.write_text(POLICY.replace('role = "admin"', 'role = "admins"'))
    policy.reload()
    assert policy.caller(Principal("ann")).lacks(("cards:delete",)) == ()
    assert "The policy was not changed." in caplog.text
    assert "line 28: members[3].role" in caplog.text
    assert caplog.records[0].levelno == logging.ERROR
    file.write_text(POLICY.replace('users = ["ann"]', 'users = ["ben"]'))
    policy.reload()
    assert policy.caller(Principal("ann")).lacks(("cards:delete",)) == ("cards:delete",)
    assert policy.scopes == ("cards.edit",)


async def test_the_policy_holds_for_static_tokens_too_and_changes_with_a_reload(file: Path, tmp_path: Path):
    tokens = tmp_path / "tokens.json"
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # of "abc"
    write_tokens(tokens, [TokenEntry("t", digest, "ann", ("notes:read",))])
    app = App("test", version="1.0.0", settings=Settings(tokens=tokens, policy=file))
    assert app.identity is not None
    caller = await app.identity.verify("abc")
    assert caller is not None
    assert caller.grants == READER | {"*", "notes:read"}
    file.write_text(  # noqa: ASYNC240 - a small file
        '[roles.nobody]\ndeny = ["*"]\n[[members]]\nrole = "nobody"\neveryone = true\n'
    )
    app.identity.reload()
    caller = await app.identity.verify("abc")
    assert caller is not None
    assert caller.lacks(("notes:read",)) == ("notes:read",)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"policy": Path("p")}, "--policy does nothing without --tokens FILE or --oidc ISSUER."),
        ({"audience": ("https://a",)}, "--audience does nothing without --oidc ISSUER."),
        ({"oidc_client": "console"}, "--oidc-client does nothing without --oidc ISSUER."),
        (
            {"oidc": "https://a", "audience": ("https://b",), "oidc_secret": SecretStr("x")},
            "--oidc-secret does nothing without --oidc-client ID.",
        ),
        ({"introspection": "https://a"}, "--introspection does nothing without --oidc ISSUER."),
        (
            {"oidc": "https://a", "audience": ("https://b",), "introspection_client": "x"},
            "--introspection-client does nothing without --introspection URL.",
        ),
        (
            {"oidc": "https://a"},
            "--oidc needs --audience: the public URL of this server, such as https://tools.example",
        ),
        ({"oidc": "http://a", "audience": ("https://b",)}, "--oidc is 'http://a'. It must begin with https://;"),
        ({"oidc": "https://a", "audience": ("api://b",)}, "--audience is 'api://b'. It must begin with https://;"),
        ({"oidc": "https://a", "audience": ("https://b?c",)}, "It must not have a query or a fragment."),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(settings: dict[str, Any], problem: str):
    with pytest.raises(InvalidSetting) as error:
        App("test", version="1.0.0", settings=Settings(**settings))
    assert problem in str(error.value)


def test_the_policy_in_the_documentation_is_valid(tmp_path: Path):
    page = Path(__file__).parents[3].joinpath("docs", "identity.md").read_text(encoding="utf-8")
    path = tmp_path / "policy.toml"
    path.write_text(page.partition("```toml\n")[2].partition("```")[0])
    ana = read_policy(path).caller(Principal("ana", claims={"groups": ["staff"], "email_verified": True}))
    assert ana.grants == {"tasks:read", "cards:read", "tasks:*", "cards:*", "*"}
    assert ana.lacks(("tasks:write", "cards:delete")) == ("cards:delete",)
