"""What the hosts share, where a client is unusual."""

import json
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from toolcharter_examples import demo

from mcp_core import Settings
from mcp_core.hosts.sdk import wire
from mcp_core.hosts.sdk.server import build_server

DELETE = {"note_id": "note_1", "explicit_action": "DELETE_NOTE"}


@pytest.mark.parametrize(
    ("capability", "can"),
    [
        (None, False),
        (types.ElicitationCapability(), True),
        (types.ElicitationCapability(form=types.FormElicitationCapability()), True),
        (types.ElicitationCapability(url=types.UrlElicitationCapability()), False),
    ],
)
def test_only_a_client_that_shows_forms_is_asked(capability, can):
    class Session:
        client_capabilities = types.ClientCapabilities(elicitation=capability)

    class Context:
        session = Session()

    context: Any = Context()
    assert wire._can_elicit(context) is can


@pytest.mark.requirement("CON-3")
async def test_a_client_that_fails_to_ask_has_not_asked():
    async def broken(context: Any, params: Any) -> types.ErrorData:
        return types.ErrorData(code=types.INTERNAL_ERROR, message="the dialog crashed")

    async with Client(build_server(demo.build(Settings())), mode="legacy", elicitation_callback=broken) as client:
        result = await client.call_tool("delete_note", DELETE)
        kept = await client.call_tool("get_note", {"note_id": "note_1"})
    assert result.is_error
    assert json.loads(result.content[0].text)["error"] == {
        "type": "ConsentError",
        "kind": "business",
        "message": "The client could not ask the user. Nothing was done.",
    }
    assert not kept.is_error


@pytest.mark.requirement("CON-3")
async def test_only_an_acceptance_without_another_value_is_a_yes():
    answers = [
        types.ElicitResult(action="accept", content={"confirm": False}),
        types.ElicitResult(action="accept", content={"confirm": "true"}),
        types.ElicitResult(action="decline", content={"confirm": True}),
        types.ElicitResult(action="cancel"),
        {"action": "accept", "content": {"confirm": True}},
        None,
    ]
    assert [wire.is_accepted(answer) for answer in answers] == [False] * len(answers)
    for content in ({"confirm": True}, {}, None):
        assert wire.is_accepted(types.ElicitResult(action="accept", content=content))
