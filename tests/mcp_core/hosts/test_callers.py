"""What is made once for callers with the same permissions."""

from mcp_core.auth import Caller, user
from mcp_core.hosts.callers import MAX_LISTS, ByGrants


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
