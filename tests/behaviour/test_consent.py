"""The person says yes to this very call, or nothing happens."""

import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.behaviour.combinations import NEW, NO, YES, Combination, Connect, Person, answer_of, data_of, error_of, over

pytestmark = pytest.mark.asyncio(loop_scope="session")

REPLY = {"confirm": YES}
FORGED = types.ErrorData(
    code=-32602, message="Invalid or expired requestState", data={"reason": "invalid_request_state"}
)
NOT_VALID = ("is not valid: it has expired, was used before, or is about another call", FORGED.message)

Refusal = Callable[..., Awaitable[str]]


async def written(client: Client, title: str) -> dict[str, str]:
    """A new note, as the arguments that delete it."""
    note = await data_of(client, "create_note", title=title)
    return {"note_id": note["id"], "explicit_action": "DELETE_NOTE"}


@pytest.mark.requirement("CON-3")
async def test_an_accepted_confirmation_lets_the_call_through(connect: Connect):
    person = Person(YES)
    async with connect(person=person) as client:
        arguments = await written(client, "To be deleted")
        assert await data_of(client, "delete_note", **arguments) == {"deleted": arguments["note_id"]}
        assert (await error_of(client, "get_note", note_id=arguments["note_id"]))["type"] == "NotFoundError"
    assert person.questions == [f"Delete note {arguments['note_id']} for good?"]


@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize("content", [{}, None])
async def test_an_accepted_form_without_values_is_a_yes(connect: Connect, content: dict[str, Any] | None):
    person = Person(types.ElicitResult(action="accept", content=content))
    async with connect(person=person) as client:
        arguments = await written(client, "To be deleted")
        assert await data_of(client, "delete_note", **arguments) == {"deleted": arguments["note_id"]}
    assert len(person.questions) == 1


REFUSALS = {
    "declined": NO,
    "cancelled": types.ElicitResult(action="cancel"),
    "accepted without a yes": types.ElicitResult(action="accept", content={"confirm": False}),
    "accepted with a word": types.ElicitResult(action="accept", content={"confirm": "true"}),
}


@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize("answer", REFUSALS)
async def test_anything_but_a_plain_yes_stops_the_call(connect: Connect, answer: str):
    person = Person(REFUSALS[answer])
    async with connect(person=person) as client:
        await data_of(client, "start_over")
        error = await error_of(client, "delete_note", note_id="note_1", explicit_action="DELETE_NOTE")
        assert (await data_of(client, "get_note", note_id="note_1"))["id"] == "note_1"
    assert len(person.questions) == 1
    assert error == {
        "type": "ConsentError",
        "kind": "business",
        "message": "The user did not agree to 'delete_note'. Nothing was done.",
    }


async def test_an_optional_question_is_left_out_where_the_client_cannot_ask(connect: Connect):
    async with connect(can_ask=False) as client:
        arguments = await written(client, "Deleted unasked")
        assert await data_of(client, "delete_note", **arguments) == {"deleted": arguments["note_id"]}


@pytest.mark.requirement("CON-3")
async def test_a_required_confirmation_refuses_a_client_that_cannot_ask(connect: Connect, combination: Combination):
    words = "'wipe' runs only after the user has confirmed it, and this client cannot ask them. "
    words += "Use a client that supports elicitation."
    async with connect(can_ask=False) as client:
        if combination.era == NEW:
            with pytest.raises(MCPError) as raised:
                await client.call_tool("wipe", {"key": "unasked", "explicit_action": "WIPE"})
            needed = {"requiredCapabilities": {"elicitation": {"form": {}}}}
            assert raised.value.error == types.ErrorData(code=-32021, message=words, data=needed)
        else:
            error = await error_of(client, "wipe", key="unasked", explicit_action="WIPE")
            assert error == {"type": "ConsentError", "kind": "business", "message": words}
        assert await data_of(client, "count", key="unasked") == 0


@pytest.mark.requirement("CON-3")
async def test_a_required_confirmation_is_asked_for_each_call(connect: Connect):
    person = Person(YES)
    async with connect(person=person) as client:
        for _ in range(2):
            assert await data_of(client, "wipe", key="each", explicit_action="WIPE") == "wiped"
        assert await data_of(client, "count", key="each") == 2
    assert len(person.questions) == 2


# ---- the new protocol: the question is an answer, and what comes back is in an attacker's hands ----------


async def asked(client: Client, name: str, **arguments: str) -> str:
    """The sealed state of a question that was put, and not answered yet."""
    first = await client.session.call_tool(name, arguments, allow_input_required=True)
    assert isinstance(first, types.InputRequiredResult)
    assert list(first.input_requests) == ["confirm"]
    return first.request_state


async def replied(client: Client, state: str | None, name: str, *, reply=REPLY, **arguments: str) -> dict:
    """The answer to a call that brings a reply along."""
    result = await client.session.call_tool(
        name, arguments, input_responses=reply, request_state=state, allow_input_required=True
    )
    assert isinstance(result, types.CallToolResult)
    return answer_of(result)


@pytest.fixture
def refusal(combination: Combination) -> Refusal:
    """Why a call that brings along a reply under a genuine seal is refused."""

    async def refused(client: Client, state: str, name: str, **given: Any) -> str:
        try:
            answer = await replied(client, state, name, **given)
        except MCPError as error:
            # FastMCP puts a seal of its own around ours, and refuses what does not fit it before our tool is asked.
            if combination.host != "fastmcp":
                raise
            return error.error.message
        assert answer["data"] is None
        assert answer["error"]["type"] == "ConsentError"
        return answer["error"]["message"]

    return refused


@over(era=(NEW,))
@pytest.mark.requirement("CON-3")
async def test_a_reply_with_its_state_lets_the_call_through_once(connect: Connect, refusal: Refusal):
    async with connect() as client:
        state = await asked(client, "wipe", key="once", explicit_action="WIPE")
        assert await data_of(client, "count", key="once") == 0
        assert (await replied(client, state, "wipe", key="once", explicit_action="WIPE"))["data"] == "wiped"
        again = await refusal(client, state, "wipe", key="once", explicit_action="WIPE")
        assert await data_of(client, "count", key="once") == 1
    assert NOT_VALID[0] in again


def other_signature(state: str) -> str:
    payload, _, signature = state.partition(".")
    return f"{payload}.{signature[::-1]}"


def longer_life(state: str) -> str:
    """On FastMCP, whose seal hides ours, this is garbage of the right size."""
    payload, _, signature = state.partition(".")
    raw = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    if raw.startswith(b"{"):
        claims = json.loads(raw)
        raw = json.dumps(claims | {"e": claims["e"] + 86_400, "n": "fresh"}).encode()
    return f"{base64.urlsafe_b64encode(raw).decode().rstrip('=')}.{signature}"


FORGERIES = {
    "empty": lambda _: "",
    "garbage": lambda _: "garbage",
    "not ascii": lambda _: "ünïcode.\N{SNOWMAN}",
    "without a signature": lambda state: state.partition(".")[0][:-8],
    "with another signature": other_signature,
    "with a longer life": longer_life,
}


@over(era=(NEW,))
@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize("forgery", FORGERIES)
async def test_a_forged_state_is_a_protocol_error_and_nothing_happens(connect: Connect, forgery: str):
    async with connect() as client:
        state = FORGERIES[forgery](await asked(client, "wipe", key="forged", explicit_action="WIPE"))
        with pytest.raises(MCPError) as raised:
            await replied(client, state, "wipe", key="forged", explicit_action="WIPE")
        assert await data_of(client, "count", key="forged") == 0
    assert raised.value.error == FORGED


@over(era=(NEW,))
@pytest.mark.requirement("CON-3")
async def test_a_reply_is_about_the_arguments_that_were_asked_about(connect: Connect, refusal: Refusal):
    async with connect() as client:
        state = await asked(client, "wipe", key="harmless", explicit_action="WIPE")
        why = await refusal(client, state, "wipe", key="precious", explicit_action="WIPE")
        assert await data_of(client, "count", key="precious") == 0
    assert any(words in why for words in NOT_VALID)


@over(era=(NEW,))
@pytest.mark.requirement("CON-3")
async def test_a_reply_is_about_the_tool_that_was_asked_about(connect: Connect, refusal: Refusal):
    async with connect() as client:
        await data_of(client, "start_over")
        state = await asked(client, "wipe", key="note_1", explicit_action="WIPE")
        why = await refusal(client, state, "delete_note", note_id="note_1", explicit_action="DELETE_NOTE")
        assert (await data_of(client, "get_note", note_id="note_1"))["id"] == "note_1"
    assert any(words in why for words in NOT_VALID)


@over(era=(NEW,))
@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize("reply", [None, {}, {"other": YES}, {"confirm": NO}], ids=["none", "empty", "other", "no"])
async def test_a_state_without_a_yes_is_a_no_for_good(connect: Connect, refusal: Refusal, reply: Any):
    arguments = {"key": "no yes", "explicit_action": "WIPE"}
    async with connect() as client:
        state = await asked(client, "wipe", **arguments)
        why = await refusal(client, state, "wipe", reply=reply, **arguments)
        later = await refusal(client, state, "wipe", **arguments)
        assert await data_of(client, "count", key="no yes") == 0
    assert why == "The user did not agree to 'wipe'. Nothing was done."
    assert NOT_VALID[0] in later


@over(era=(NEW,))
@pytest.mark.requirement("CON-3")
async def test_a_yes_without_a_state_is_asked_again(connect: Connect):
    arguments = {"key": "no state", "explicit_action": "WIPE"}
    async with connect() as client:
        result = await client.session.call_tool("wipe", arguments, input_responses=REPLY, allow_input_required=True)
        assert isinstance(result, types.InputRequiredResult)
        assert await data_of(client, "count", key="no state") == 0


@over(era=(NEW,))
@pytest.mark.requirement("CON-3")
async def test_a_client_that_cannot_ask_cannot_bring_a_reply_either(connect: Connect):
    async with connect(can_ask=False) as client:
        with pytest.raises(MCPError) as raised:
            await replied(client, "made.up", "wipe", key="no asker", explicit_action="WIPE")
        assert await data_of(client, "count", key="no asker") == 0
    assert raised.value.error == FORGED


@over(era=(NEW,), transport=("http",))
@pytest.mark.requirement("CON-3")
async def test_one_caller_s_reply_is_worth_nothing_to_another(connect: Connect, refusal: Refusal):
    arguments = {"key": "ann's", "explicit_action": "WIPE"}
    async with connect(user="ann") as ann, connect(user="bob") as bob:
        state = await asked(ann, "wipe", **arguments)
        why = await refusal(bob, state, "wipe", **arguments)
        assert await data_of(bob, "count", key="ann's") == 0
        assert (await replied(ann, state, "wipe", **arguments))["data"] == "wiped"
    assert any(words in why for words in NOT_VALID)
