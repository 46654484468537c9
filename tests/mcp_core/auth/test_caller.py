from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core import App, Caller, Settings, StaticTokens
from mcp_core.auth import user
from mcp_core.auth.caller import is_user_name


async def test_a_token_stands_for_its_caller_and_no_other_token_does():
    tokens = StaticTokens({"t-ann": user("ann", ["cards:read"]), "t-ben": user("ben", [])})
    assert await tokens.verify("t-ann") == Caller("user:ann", "ann", frozenset({"cards:read"}))
    assert await tokens.verify("t-ben") == Caller("user:ben", "ben", frozenset())
    for wrong in ("", "t-an", "t-ann ", "T-ANN", "t-ann\0", "\ud800", "x" * 100_000):
        assert await tokens.verify(wrong) is None


def test_no_token_is_kept_in_memory():
    tokens = StaticTokens({"t-ann-secret": user("ann", [])})
    assert "t-ann-secret" not in repr(vars(tokens))


@pytest.mark.parametrize(
    ("grants", "denied", "missing"),
    [
        ([], [], ("cards:read", "cards:delete", "decks:read")),
        (["*"], [], ()),
        (["cards:*"], [], ("decks:read",)),
        (["cards:read", "cards:delete", "decks:read"], [], ()),
        (["*"], ["cards:delete"], ("cards:delete",)),
        (["*"], ["cards:*"], ("cards:read", "cards:delete")),
        (["*"], ["*"], ("cards:read", "cards:delete", "decks:read")),
        (["cards:*", "decks:read"], ["cards:delete"], ("cards:delete",)),
        (["cards:delete", "cards:read", "decks:read"], ["cards:delete"], ("cards:delete",)),
        (["cards:delete", "cards:read", "decks:read"], ["notes:*"], ()),
        (["card:*", "cards", "cards:", "*:read", "cards:re*"], [], ("cards:read", "cards:delete", "decks:read")),
    ],
)
def test_wildcards_grant_and_deny_and_deny_wins(grants: list[str], denied: list[str], missing: tuple[str, ...]):
    caller = Caller("user:ann", "ann", frozenset(grants), frozenset(denied))
    assert caller.lacks(("cards:read", "cards:delete", "decks:read")) == missing
    assert caller.lacks(()) == ()


_names = st.sampled_from(["cards:read", "cards:write", "decks:read", "cards:*", "decks:*", "*"])


@given(st.frozensets(_names), st.frozensets(_names), st.frozensets(_names))
def test_a_denial_never_adds_a_permission_and_a_grant_never_takes_one_away(grants, denied, more):
    asked = ("cards:read", "cards:write", "decks:read")
    lacks = set(Caller(grants=grants, denied=denied).lacks(asked))
    assert lacks <= set(Caller(grants=grants, denied=denied | more).lacks(asked))
    assert lacks >= set(Caller(grants=grants | more, denied=denied).lacks(asked))


@pytest.mark.parametrize("name", ["", " ", "local", "a\nb", "a\x1b[31m", "x" * 257, 5, None, ["ann"]])
def test_what_cannot_be_the_name_of_a_user(name: Any):
    assert not is_user_name(name)


@pytest.mark.parametrize("name", ["ann", "auth0|5f7c8ec7", "Ann Ó Briain", "ann@example.com", "x" * 256])
def test_what_can_be_the_name_of_a_user(name: str):
    assert is_user_name(name)


@pytest.mark.parametrize(
    ("settings", "caller"),
    [
        ({}, Caller("local", None, frozenset({"*"}))),
        ({"grants": ()}, Caller("local", None, frozenset())),
        ({"user": "ann"}, Caller("user:ann", "ann", frozenset({"*"}))),
        ({"user": "ann", "grants": ("cards:read",)}, Caller("user:ann", "ann", frozenset({"cards:read"}))),
    ],
)
def test_who_calls_without_a_token_is_what_the_settings_say(settings: dict[str, Any], caller: Caller):
    assert App("test", version="1.0.0", settings=Settings(**settings)).local_caller == caller


WRITE = 'Write StaticTokens({"TOKEN": user("ana", ["books:read"])}); user is in toolcharter.auth.'


@pytest.mark.parametrize("caller", [{"client_id": "ana", "scopes": ["read"]}, "ana", ["read"]])
def test_a_token_without_a_caller_is_refused_with_what_to_write(caller):
    with pytest.raises(TypeError) as refusal:
        StaticTokens({"t-ann-secret": caller})
    assert str(refusal.value) == f"StaticTokens: {caller!r} is not a Caller. {WRITE}"


def test_a_verifier_that_verifies_nothing_is_refused_with_what_to_write():
    with pytest.raises(TypeError) as refusal:
        App("shop", verifier={"t-ann-secret": user("ann", [])})
    assert str(refusal.value) == f"verifier: a dict has no method verify(token). {WRITE}"
