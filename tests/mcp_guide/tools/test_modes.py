"""Modes: off until somebody asks for them."""

import json

import pytest

from mcp_core import Request, instructions
from mcp_core.auth import Caller
from mcp_core.calling.records import Ask
from mcp_guide.model import BOUNDARIES, MODES
from tests.mcp_guide.guide_server import build_guide, error, make_call, value, write_documents

CONSENT = {"user_consent": "ENTER_IMPLEMENTATION"}


READS = (
    ("get_content", {"expression": "lang/python"}),
    ("search_content", {"query": "python"}),
    ("list_documents", {}),
    ("get_project_config", {}),
    ("set_project_flag", {"flag": "a", "value": True}),
    ("add_category", {"name": "more"}),
    ("client_info", {}),
)


@pytest.mark.requirement("GDL-2")
async def test_a_default_server_says_nothing_of_modes(app, call):
    assert "mode" not in app.instructions
    for tool, arguments in READS:
        failed, answer = await call(tool, **arguments)
        assert (tool, failed) == (tool, False), answer
        assert "mode" not in json.dumps(answer), tool
    assert await value(call, "get_mode") == {"mode": "OFF"}


@pytest.mark.requirement("GDL-2", "GUI-10")
async def test_without_a_mode_nobody_has_to_agree_to_implementation(call):
    assert await value(call, "set_mode", mode="implementation") == {"mode": "IMPLEMENTATION"}


@pytest.mark.requirement("GUI-10")
@pytest.mark.parametrize("mode", MODES)
async def test_the_answers_about_a_mode_carry_its_boundary_and_no_others(call, mode):
    failed, answer = await call("set_mode", mode=mode)
    assert (failed, answer["value"], answer["instruction"]) == (False, {"mode": mode}, BOUNDARIES[mode])
    failed, answer = await call("get_mode")
    assert (failed, answer["value"], answer["instruction"]) == (False, {"mode": mode}, BOUNDARIES[mode])
    for tool, arguments in READS:
        failed, answer = await call(tool, **arguments)
        assert (tool, failed) == (tool, False), answer
        assert BOUNDARIES[mode] not in answer.get("instruction", ""), tool


@pytest.mark.requirement("GUI-10")
async def test_a_configured_mode_is_announced_once_in_each_session_and_never_in_a_prompt(tmp_path):
    write_documents(tmp_path / "docs", {"lang/python.md": "# Python\n"})
    (tmp_path / "guide.yaml").write_text("projects:\n  default:\n    mode: PLANNING\n", encoding="utf-8")
    async with build_guide(tmp_path) as app:

        async def instruction(session: str) -> str | None:
            answer = await app.answer(
                Request("get_content", {"expression": "lang"}, app.local_caller, session_id=session)
            )
            return json.loads(answer.text).get("instruction")

        prompt = await app.library.prompt(Request("guide", {"arg1": "lang"}, app.local_caller, session_id="one"))
        assert [message.content for message in prompt.messages] == ["# Python\n"]
        assert await instruction("one") == BOUNDARIES["PLANNING"]
        assert await instruction("one") is None
        assert await instruction("other") == BOUNDARIES["PLANNING"]


@pytest.mark.requirement("GUI-10")
async def test_callers_that_cannot_be_told_apart_share_no_mode_and_no_project(tmp_path):
    async with build_guide(tmp_path) as app:
        caller = Caller("anonymous:127.0.0.1", grants=frozenset({"*"}))
        call = make_call(app, caller)
        await value(call, "clone_project", name="shop")
        for tool, arguments in (("set_mode", {"mode": "PLANNING"}), ("set_project", {"project": "shop"})):
            kind, text = await error(call, tool, **arguments)
            assert (kind, "neither a user nor a session" in text) == ("ConflictError", True)
        assert await value(call, "get_mode") == {"mode": "OFF"}
        assert (await value(call, "list_projects"))["active"] == "default"


@pytest.mark.requirement("GUI-10")
async def test_implementation_begins_only_with_the_user_s_consent(call):
    await value(call, "set_mode", mode="PLANNING")
    for mode in ("IMPLEMENTATION", "OFF"):
        failed, answer = await call("set_mode", mode=mode)
        assert (failed, answer["error_type"]) == (True, "ConsentError")
        assert answer["instruction"] == f"{instructions.REQUIRE_CONSENT} {instructions.NO_CHANGES}"
    assert await value(call, "get_mode") == {"mode": "PLANNING"}
    await value(call, "set_mode", mode="IMPLEMENTATION", **CONSENT)
    assert await value(call, "get_mode") == {"mode": "IMPLEMENTATION"}


@pytest.mark.requirement("GUI-10")
async def test_the_user_is_asked_to_confirm_and_can_refuse(tmp_path):
    questions = []

    async def refuse(question: str) -> bool:
        questions.append(question)
        return False

    async with build_guide(tmp_path) as app:
        await value(make_call(app), "set_mode", mode="DISCUSSION")
        arguments = {"mode": "IMPLEMENTATION", **CONSENT}
        answer = await app.answer(Request("set_mode", arguments, app.local_caller, ask=refuse))
        assert (answer.is_error, questions) == (
            True,
            ["Let the agent work in IMPLEMENTATION mode in the project default?"],
        )
        assert await value(make_call(app), "get_mode") == {"mode": "DISCUSSION"}


def recording(questions: list[str], *, reply: bool) -> Ask:
    """A person who gives the same reply to each question."""

    async def ask(question: str) -> bool:
        questions.append(question)
        return reply

    return ask


@pytest.mark.requirement("GUI-10")
async def test_a_confirmation_is_consent_without_the_literal(tmp_path):
    questions: list[str] = []
    async with build_guide(tmp_path) as app:
        await value(make_call(app), "set_mode", mode="CHECK")
        arguments = {"mode": "IMPLEMENTATION"}
        ask = recording(questions, reply=True)
        answer = await app.answer(Request("set_mode", arguments, app.local_caller, ask=ask))
        assert json.loads(answer.text)["value"] == {"mode": "IMPLEMENTATION"}
    assert questions == ["Let the agent work in IMPLEMENTATION mode in the project default?"]


@pytest.mark.requirement("GUI-10")
async def test_only_a_mode_that_allows_more_is_asked_about(tmp_path):
    questions: list[str] = []
    async with build_guide(tmp_path) as app:
        for mode in ("PLANNING", "CHECK", "IMPLEMENTATION", "IMPLEMENTATION", "CHECK", "DISCUSSION"):
            ask = recording(questions, reply=True)
            answer = await app.answer(Request("set_mode", {"mode": mode}, app.local_caller, ask=ask))
            assert json.loads(answer.text)["value"] == {"mode": mode}
    assert len(questions) == 1


@pytest.mark.requirement("GUI-10")
async def test_each_project_has_its_own_mode_which_ends_with_the_process(tmp_path):
    async with build_guide(tmp_path) as app:
        call = make_call(app)
        await value(call, "clone_project", name="shop")
        await value(call, "set_mode", mode="IMPLEMENTATION", project="shop", **CONSENT)
        assert await value(call, "get_mode") == {"mode": "OFF"}
        assert await value(call, "get_mode", project="shop") == {"mode": "IMPLEMENTATION"}
        assert (await value(call, "list_projects"))["projects"] == [
            {"name": "default"},
            {"name": "shop", "mode": "IMPLEMENTATION"},
        ]
        await value(call, "set_project_flag", flag="a", value=True, project="shop")
    async with build_guide(tmp_path) as app:
        assert await value(make_call(app), "get_mode", project="shop") == {"mode": "OFF"}


@pytest.mark.requirement("GUI-10")
async def test_a_mode_counts_in_its_session_only(tmp_path):
    async with build_guide(tmp_path) as app:

        async def run(tool: str, session: str, **arguments: str) -> dict[str, str]:
            answer = await app.answer(Request(tool, arguments, app.local_caller, session_id=session))
            return json.loads(answer.text)["value"]

        await run("set_mode", "one", mode="IMPLEMENTATION", **CONSENT)
        assert await run("get_mode", "one") == {"mode": "IMPLEMENTATION"}
        assert await run("get_mode", "other") == {"mode": "OFF"}


async def test_a_new_project_does_not_inherit_the_mode_of_a_removed_one(call):
    await value(call, "clone_project", name="shop")
    await value(call, "set_mode", mode="IMPLEMENTATION", project="shop", **CONSENT)
    await value(call, "remove_project", project="shop", explicit_action="REMOVE_PROJECT")
    assert await value(call, "clone_project", name="shop") == {"name": "shop"}
    assert await value(call, "get_mode", project="shop") == {"mode": "OFF"}


async def test_a_session_begins_with_the_configured_mode(tmp_path):
    (tmp_path / "guide.yaml").write_text("projects:\n  default:\n    mode: PLANNING\n", encoding="utf-8")
    async with build_guide(tmp_path) as app:
        assert await value(make_call(app), "get_mode") == {"mode": "PLANNING"}
