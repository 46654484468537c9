"""What all hosts share: the request that a client's peer makes, and the errors that an app leaves to its host."""

import json

import pytest

from mcp_core import Caller, Request, UnknownTool
from mcp_core.calling.records import Reply
from mcp_core.errors import ElicitationUnsupported, ForgedReply, Refused, UrlElicitationRequired
from mcp_core.hosts.protocol import Peer, is_accepted, local_folders, protocol_error, supports_forms

ANN = Caller("user:ann")


async def ask(question: str) -> bool:
    return True


FORM = frozenset({"form"})


@pytest.mark.parametrize(
    ("peer", "asks", "expected"),
    [
        (Peer(ANN, modern=False, can_elicit=True, ask=ask), True, {"ask": ask, "modes": FORM}),
        (Peer(ANN, modern=False, can_elicit=True, ask=ask), False, {}),
        (Peer(ANN, modern=False, can_elicit=False, ask=ask), True, {}),
        (
            Peer(ANN, modern=True, can_elicit=True),
            True,
            {"can_return_questions": True, "must_declare": True, "modes": FORM},
        ),
        (
            Peer(ANN, modern=False, can_open_urls=True, elicit=ask),
            True,
            {"elicit": ask, "modes": frozenset({"url"})},
        ),
        (Peer(ANN, modern=True, can_elicit=True), False, {"must_declare": True}),
        (Peer(ANN, modern=True, can_elicit=False), True, {"must_declare": True}),
    ],
)
def test_a_person_is_asked_in_the_way_of_the_protocol_and_only_for_tools_that_ask(peer, asks, expected):
    assert peer.request("wipe", None, {}, asks=asks) == Request("wipe", {}, ANN, **expected)


def test_a_request_has_all_that_is_known_about_its_client_and_its_own_metadata_counts_more_than_headers():
    peer = Peer(ANN, False, "raw", "9.8", "session", trace_ids={"traceparent": "of the header", "correlationId": "c"})
    meta = {"traceparent": "of the message"}
    reply = Reply("state", accepted=True)
    assert peer.request("add", {"a": 1}, meta, reply=reply) == Request(
        "add", {"a": 1}, ANN, "raw", "9.8", "session", meta | {"correlationId": "c"}, reply=reply
    )


NEAREST = {"nearest": ["add"]}
FORGED = {"reason": "invalid_request_state"}
FORMS = {"requiredCapabilities": {"elicitation": {"form": {}}}}
ADDRESS = {"mode": "url", "message": "Please pay.", "url": "https://pay.example/1", "elicitationId": "e1"}


@pytest.mark.parametrize(
    ("error", "code", "message", "data"),
    [
        (UnknownTool("ad", ["add"]), -32602, "Unknown tool: 'ad'. Did you mean 'add'?", NEAREST),
        (ForgedReply("Not made by this server."), -32602, "Invalid or expired requestState", FORGED),
        (ElicitationUnsupported("The client cannot ask."), -32021, "The client cannot ask.", FORMS),
        (UrlElicitationRequired("Open it.", [ADDRESS]), -32042, "Open it.", {"elicitations": [ADDRESS]}),
        (Refused("Unknown resource: x", "validation", {"uri": "x"}), -32602, "Unknown resource: x", {"uri": "x"}),
        (Refused("No.", "business", {}), -32602, "No.", None),
        (Refused("It broke.", "system", {}), -32603, "It broke.", None),
    ],
)
def test_each_exception_that_an_app_leaves_to_its_host_has_one_protocol_error(error, code, message, data):
    expected = {"code": code, "message": message} | ({} if data is None else {"data": data})
    assert json.loads(protocol_error(error).to_text()) == expected


@pytest.mark.parametrize(
    ("capabilities", "supported"),
    [
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"form": {}, "url": {}}}, True),
        ({"elicitation": {"url": {}}}, False),
        ({"elicitation": None}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_client_that_names_no_mode_of_elicitation_shows_forms(capabilities, supported):
    assert supports_forms(capabilities) is supported


@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize(
    "response",
    [
        None,
        {},
        {"content": {"confirm": True}},
        {"action": "accept", "content": {"confirm": "true"}},
        {"action": "accept", "content": {"confirm": 1}},
        {"action": "accept", "content": {"confirm": None}},
        {"action": "accept", "content": {"confirm": False}},
        {"action": "accept", "content": 5},
        {"action": "decline"},
        {"action": "cancel", "content": {}},
        {"action": "decline", "content": {"confirm": True}},
    ],
)
def test_what_is_not_accepted_or_holds_another_value_than_true_is_no_agreement(response):
    assert not is_accepted(response)


@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize("content", [{"confirm": True}, {}, None, {"note": "go"}])
def test_to_accept_is_to_agree(content):
    assert is_accepted({"action": "accept", "content": content})
    assert is_accepted({"action": "accept"})


def test_only_folders_of_this_machine_are_taken_from_the_roots_of_a_client():
    roots = ["file:///home/ann/my%20notes", "https://example.com/x", "file://elsewhere/share", ""]
    assert local_folders(roots) == ("/home/ann/my notes",)
