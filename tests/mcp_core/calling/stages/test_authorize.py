import json

import pytest

from mcp_core import App, Caller, Settings
from tests.mcp_core.declared import Text, query

GRANTS = {
    "nothing": ((), False),
    "exactly it": (("notes:read", "tags:read"), True),
    "only one of two": (("notes:read",), False),
    "another action": (("notes:write", "tags:read"), False),
    "all actions on the resource": (("notes:*", "tags:*"), True),
    "all actions on another resource": (("note:*", "tag:*"), False),
    "everything": (("*",), True),
    "a star that is no grant": (("*:*", "*:read"), False),
    "the name without an action": (("notes", "tags"), False),
}


@query({"name": "x"}, permissions=["notes:read", "tags:read"], cache_ttl=60)
async def read(name: Text) -> str:
    return f"the secret of {name}"


@pytest.mark.requirement("VAL-2")
@pytest.mark.parametrize(("grants", "allowed"), GRANTS.values(), ids=GRANTS)
async def test_a_call_needs_every_permission_of_its_tool(grants: tuple[str, ...], allowed: bool):
    async with App("test", version="1.0.0", format="result", tools=[read]) as app:
        answer = await app.call("read", {"name": "x"}, Caller(grants=frozenset(grants)))
    assert answer.is_error is not allowed


@pytest.mark.requirement("VAL-2")
async def test_a_refusal_names_what_is_missing_and_nothing_of_the_data():
    async with App("test", version="1.0.0", format="result", tools=[read]) as app:
        refused = await app.call("read", {"name": "x"}, Caller(grants=frozenset({"tags:read"})))
    assert json.loads(refused.text) == {
        "success": False,
        "error": "'read' needs the permission notes:read, which this caller does not have.",
        "error_type": "PermissionError",
        "instruction": "Present this error to the user and take no further action. "
        "Do NOT attempt to fix this automatically.",
    }


@pytest.mark.requirement("VAL-2")
async def test_a_cached_read_is_still_gated():
    allowed = Caller("user:ann", grants=frozenset({"*"}))
    withdrawn = Caller("user:ann")
    async with App("test", version="1.0.0", format="result", tools=[read]) as app:
        assert "the secret" in (await app.call("read", {"name": "x"}, allowed)).text
        refused = await app.call("read", {"name": "x"}, withdrawn)
    assert refused.is_error
    assert "the secret" not in refused.text


@pytest.mark.requirement("VAL-2")
async def test_the_grants_setting_is_what_a_caller_without_a_token_may_do():
    for settings, allowed in (
        (Settings(), True),
        (Settings(grants=("notes:*", "tags:read")), True),
        (Settings(grants=("notes:read",)), False),
        (Settings(grants=()), False),
    ):
        async with App("test", version="1.0.0", format="result", tools=[read], settings=settings) as app:
            assert (await app.call("read", {"name": "x"})).is_error is not allowed


@pytest.mark.requirement("VAL-2")
async def test_the_caller_is_authorized_before_the_arguments_are_parsed():
    async with App("test", version="1.0.0", format="result", tools=[read]) as app:
        refused = await app.call("read", {"nonsense": [[]] * 10}, Caller())
    assert json.loads(refused.text)["error_type"] == "PermissionError"
