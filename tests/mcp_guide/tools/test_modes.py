"""Modes, and the instruction in each result."""

import pytest

from mcp_core import Request, instructions
from mcp_guide.model import BOUNDARIES, MODES
from tests.mcp_guide.guide_server import build_guide, make_call, value

CONSENT = {"user_consent": "ENTER_IMPLEMENTATION"}


@pytest.mark.requirement("GUI-10")
@pytest.mark.parametrize("mode", MODES)
async def test_each_answer_carries_the_boundary_of_the_mode(call, mode):
    failed, answer = await call("set_mode", mode=mode, **(CONSENT if mode == "IMPLEMENTATION" else {}))
    assert (failed, answer["value"], answer["instruction"]) == (False, {"mode": mode}, BOUNDARIES[mode])
    for tool, arguments in (
        ("get_mode", {}),
        ("get_content", {"expression": "lang/python"}),
        ("search_content", {"query": "python"}),
        ("list_documents", {}),
        ("get_project_config", {}),
        ("list_categories", {}),
        ("list_collections", {}),
        ("list_project_flags", {}),
        ("set_project_flag", {"flag": "a", "value": True}),
        ("add_category", {"name": "more"}),
        ("client_info", {}),
    ):
        failed, answer = await call(tool, **arguments)
        assert (tool, failed) == (tool, False), answer
        assert answer["instruction"].endswith(BOUNDARIES[mode]), tool


@pytest.mark.requirement("GUI-10")
async def test_implementation_begins_only_with_the_user_s_consent(call):
    failed, answer = await call("set_mode", mode="IMPLEMENTATION")
    assert (failed, answer["error_type"]) == (True, "ConsentError")
    assert answer["instruction"] == f"{instructions.REQUIRE_CONSENT} {instructions.NO_CHANGES}"
    assert await value(call, "get_mode") == {"mode": "DISCUSSION"}
    await value(call, "set_mode", mode="IMPLEMENTATION", **CONSENT)
    assert await value(call, "get_mode") == {"mode": "IMPLEMENTATION"}


@pytest.mark.requirement("GUI-10")
async def test_the_user_is_asked_to_confirm_and_can_refuse(tmp_path):
    questions = []

    async def refuse(question: str) -> bool:
        questions.append(question)
        return False

    async with build_guide(tmp_path) as app:
        arguments = {"mode": "IMPLEMENTATION", **CONSENT}
        answer = await app.run(Request("set_mode", arguments, app.local_caller, ask=refuse))
        assert (answer.is_error, questions) == (
            True,
            ["Let the agent work in IMPLEMENTATION mode in the project default?"],
        )
        assert await value(make_call(app), "get_mode") == {"mode": "DISCUSSION"}


async def test_each_project_has_its_own_mode_and_keeps_it(tmp_path):
    async with build_guide(tmp_path) as app:
        call = make_call(app)
        await value(call, "clone_project", name="shop")
        await value(call, "set_mode", mode="PLANNING", project="shop")
    async with build_guide(tmp_path) as app:
        call = make_call(app)
        assert await value(call, "get_mode") == {"mode": "DISCUSSION"}
        assert await value(call, "get_mode", project="shop") == {"mode": "PLANNING"}
