"""Who calls over HTTP, and what is made once for callers with the same permissions."""

import pytest

from mcp_core import App
from mcp_core.auth import Caller, IdentityUnavailable, StaticTokens, user
from mcp_core.hosts.callers import MAX_LISTS, MAX_TOKEN_LENGTH, ByGrants, NotIdentified, http_caller, site_caller


def test_callers_with_the_same_permissions_share_what_is_made():
    made: list[str] = []
    lists = ByGrants(lambda caller: made.append(caller.key) or sorted(caller.grants))
    assert lists.get(user("ann", ("b", "a"))) == ["a", "b"]
    assert lists.get(user("bob", ("a", "b"))) is lists.get(user("ann", ("b", "a")))
    assert lists.get(user("eve", ())) == []
    assert made == ["user:ann", "user:eve"]


def test_permissions_without_end_do_not_fill_the_memory():
    made: list[str] = []
    lists = ByGrants(lambda caller: made.append(caller.key) or caller.key)
    for number in range(MAX_LISTS):
        lists.get(Caller(f"{number}", grants=frozenset({f"{number}"})))
    lists.get(Caller("0", grants=frozenset({"0"})))
    assert len(made) == MAX_LISTS
    lists.get(Caller("more", grants=frozenset({"more"})))
    lists.get(Caller("0", grants=frozenset({"0"})))
    assert len(made) == MAX_LISTS + 2


def test_a_denial_is_a_part_of_the_permissions():
    lists = ByGrants(lambda caller: sorted(caller.denied))
    everything = frozenset({"*"})
    assert lists.get(Caller("user:ann", "ann", everything)) == []
    assert lists.get(Caller("user:bob", "bob", everything, frozenset({"cards:delete"}))) == ["cards:delete"]


class Recorder:
    """A verifier that accepts what it sees."""

    def __init__(self) -> None:
        self.tokens: list[str] = []

    async def verify(self, token: str) -> Caller:
        self.tokens.append(token)
        return user("ann", ())


@pytest.mark.parametrize("token", ["x" * (MAX_TOKEN_LENGTH + 1), "caf\xe9", "\x80"])
async def test_a_token_that_none_can_be_is_not_verified(token: str):
    verifier = Recorder()
    app = App("test", version="1.0.0", verifier=verifier)
    with pytest.raises(NotIdentified) as refused:
        await http_caller(app, {"path": "/mcp"}, f"Bearer {token}")
    assert refused.value.status == 401
    assert verifier.tokens == []


async def test_a_token_has_a_scheme_in_any_case_and_space_around_it():
    app = App("test", version="1.0.0", verifier=Recorder())
    for value in ("Bearer x", "bearer x", "BEARER  x "):
        assert (await http_caller(app, {"path": "/mcp"}, value)).user_id == "ann"


class Away:
    """A verifier that cannot find out."""

    async def verify(self, token: str) -> Caller | None:
        raise IdentityUnavailable("The issuer is away. Try again.")


async def test_a_token_that_cannot_be_verified_now_is_not_called_wrong():
    app = App("test", version="1.0.0", verifier=Away())
    with pytest.raises(NotIdentified) as refused:
        await http_caller(app, {"path": "/mcp"}, "Bearer x")
    assert refused.value.status == 503
    assert (b"retry-after", b"5") in refused.value.headers
    assert b"The issuer is away" in refused.value.body


async def test_a_page_of_several_apps_is_for_whomever_one_of_them_knows():
    known = App("known", version="1.0.0", verifier=StaticTokens({"t": user("ann", ())}))
    other = App("other", version="1.0.0", verifier=StaticTokens({"o": user("bob", ())}))
    assert (await site_caller([known, other], {"path": "/"}, "Bearer o")).user_id == "bob"
    assert (await site_caller([known, other], {"path": "/"}, "Bearer t")).user_id == "ann"
    with pytest.raises(NotIdentified):
        await site_caller([known, other], {"path": "/"}, "Bearer x")
