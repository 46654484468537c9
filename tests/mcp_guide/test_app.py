"""The whole server: its tool list, its size and its permissions."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_core import Answer, Caller, Question, Request, Settings
from mcp_core.auth import user
from mcp_core.calling.records import Reply
from mcp_guide.app import build
from tests.forkserver.commands import command_path
from tests.mcp_guide.guide_server import build_guide, error, make_call, value, write_documents
from toolcharter.local.app_verification import verify_app

COMMAND = command_path("mcp-guide")
MAX_BYTES = 20_000
"""Of the names, descriptions and input schemas, which are in every request of an agent."""
DECLARED = {
    "dev.toolcharter/" + name
    for name in ("version", "category", "responseTime", "cacheable", "idempotent", "permissions", "tags", "examples")
}

TOOLS = [
    "get_content",
    "get_outline",
    "search_content",
    "get_rules",
    "list_documents",
    "create_document",
    "update_document",
    "delete_document",
    "check_documents",
    "list_projects",
    "get_project_config",
    "set_project",
    "clone_project",
    "change_project",
    "remove_project",
    "list_categories",
    "add_category",
    "change_category",
    "remove_category",
    "list_collections",
    "add_collection",
    "change_collection",
    "remove_collection",
    "set_project_flag",
    "get_project_flag",
    "list_project_flags",
    "set_feature_flag",
    "get_feature_flag",
    "list_feature_flags",
    "get_mode",
    "set_mode",
    "export_content",
    "client_info",
]


def test_the_names_and_order_of_the_tools():
    assert [tool.name for tool in build(Settings()).list_tools()] == TOOLS


def test_the_name_of_a_document_may_not_be_empty():
    tools = {tool.name: tool.input_schema["properties"] for tool in build(Settings()).list_tools()}
    for tool in ("create_document", "update_document", "delete_document"):
        assert tools[tool]["name"]["minLength"] == 1


def list_tools(*options: str, **env: str) -> str:
    """The response of `mcp-guide` to tools/list."""
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/list",
        "params": {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        },
    }
    done = subprocess.run(
        [COMMAND, *options],
        input=json.dumps(request) + "\n",
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_the_part_of_the_list_that_a_model_reads_is_small():
    tools = json.loads(list_tools())["result"]["tools"]
    assert len(tools) == len(TOOLS)
    read = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    assert len(json.dumps(read, ensure_ascii=False, separators=(",", ":")).encode()) <= MAX_BYTES
    for tool in tools:
        # What a model does not read is complete.
        assert set(tool["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["_meta"].keys() >= DECLARED


def test_the_sdk_and_the_fast_path_list_the_same():
    assert (
        json.loads(list_tools("--fast-path", "off"))["result"]["tools"] == json.loads(list_tools())["result"]["tools"]
    )


@pytest.mark.requirement("OPS-2")
@pytest.mark.parametrize("fast_path", ["on", "off"])
def test_grants_that_allow_only_reading_list_only_the_tools_that_read(fast_path: str):
    listed = json.loads(list_tools("--fast-path", fast_path, "--grants", "documents:read,projects:read,flags:read"))
    names = [tool["name"].removeprefix("guide_") for tool in listed["result"]["tools"]]
    reading = ("get_", "list_", "search_", "check_", "client_info", "set_project")
    assert names == [name for name in TOOLS if name.startswith(reading) and name != "set_project_flag"]


@pytest.mark.requirement("NAM-4")
def test_the_command_adds_the_prefix_guide_unless_another_is_set():
    for env, before in (({}, "guide_"), ({"MCP_TOOL_PREFIX": ""}, ""), ({"MCP_TOOL_PREFIX": "team"}, "team_")):
        names = [tool["name"] for tool in json.loads(list_tools(**env))["result"]["tools"]]
        assert names == [f"{before}{name}" for name in TOOLS]


def test_full_descriptions_have_all_four_sections():
    for tool in json.loads(list_tools("--descriptions", "full"))["result"]["tools"]:
        assert "## Concrete Examples" in tool["description"]


@pytest.mark.requirement("CON-2")
def test_the_compact_list_says_which_tools_need_consent_and_which_only_read():
    tools = {tool.name: tool for tool in build(Settings()).list_tools()}
    with_consent = {name for name, tool in tools.items() if "explicit_action" in tool.input_schema["properties"]}
    assert with_consent == {
        *("create_document", "update_document", "delete_document"),
        *("remove_project", "remove_category", "remove_collection"),
    }
    for name, tool in tools.items():
        assert ("REQUIRES EXPLICIT USER INSTRUCTION" in tool.description) is (name in with_consent), name
    reading = {name for name, tool in tools.items() if tool.annotations.get("readOnlyHint")}
    assert reading == {n for n in TOOLS if n.startswith(("get_", "list_", "search_", "check_")) or n == "client_info"}
    destroying = {name for name, tool in tools.items() if tool.annotations.get("destructiveHint")}
    assert destroying == with_consent - {"create_document"} | {"export_content"}


def test_the_rules_have_no_finding():
    outcome = verify_app(build(Settings()), Path(__file__).parents[2], "guide")
    assert [(finding.rule.id, finding.tool, finding.message) for finding in outcome.findings] == []


LANG_A = {"category_dir": "lang", "name": "a"}


async def test_reading_and_writing_need_different_permissions(tmp_path):
    write_documents(tmp_path / "docs")
    async with build_guide(tmp_path) as app:
        call = make_call(app, user("reader", ("documents:read", "projects:read", "flags:read")))
        await value(call, "get_content", expression="lang/python")
        await value(call, "get_project_config")
        for tool, arguments in (
            (
                "create_document",
                {"category_dir": "lang", "name": "a", "content": "", "explicit_action": "CREATE_DOCUMENT"},
            ),
            ("set_mode", {"mode": "PLANNING"}),
            ("set_feature_flag", {"flag": "a", "value": True}),
            ("add_category", {"name": "a"}),
            ("export_content", {"expression": "lang", "destination": "a"}),
        ):
            assert (await error(call, tool, **arguments))[0] == "PermissionError", tool


async def test_examples_do_not_touch_the_files_of_a_person(tmp_path):
    async with build_guide(tmp_path) as app:
        await app.prepare_examples(app)
        await value(make_call(app), "set_mode", mode="PLANNING")
        assert (await value(make_call(app), "get_project_config"))["name"] == "shop"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs"]


def test_a_start_loads_neither_yaml_nor_sqlite():
    code = "import sys; from mcp_core import Settings; from mcp_guide.app import build; build(Settings()); print([m for m in ('yaml', 'sqlite3', 'sqlalchemy', 'mcp', 'mcp_types') if m in sys.modules])"  # noqa: E501
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


async def test_a_caller_cannot_choose_the_project_of_another(tmp_path: Path):
    """Not even with the session id of the other, or with a session id that is the other's name."""
    write_documents(tmp_path / "docs")

    async def active(caller: Caller, session_id: str | None) -> str:
        answer = await app.answer(Request("list_projects", {}, caller, session_id=session_id))
        return json.loads(answer.text)["value"]["active"]

    ann, bob = user("ann", ("*",)), user("bob", ("*",))
    async with build_guide(tmp_path) as app:
        await value(make_call(app, ann), "clone_project", name="shop")
        for session_id in ("ann", "s1", None):
            await app.answer(Request("set_project", {"project": "shop"}, bob, session_id=session_id))
            assert await active(bob, session_id) == "shop"
        assert [await active(ann, session_id) for session_id in (None, "s1", "ann")] == ["default"] * 3


async def test_the_confirmation_of_a_delete_names_the_project_and_holds_for_it_only(tmp_path: Path):
    write_documents(tmp_path / "docs")
    ann, delete = user("ann", ("*",)), {"category_dir": "lang", "name": "rust", "explicit_action": "DELETE_DOCUMENT"}
    request = Request("delete_document", delete, ann, can_return_questions=True)
    async with build_guide(tmp_path) as app:
        question = await app.answer(request)
        assert isinstance(question, Question)
        assert question.text == "Delete the document lang/rust.md of the project default permanently?"
        await value(make_call(app, ann), "clone_project", name="shop")
        await value(make_call(app, ann), "set_project", project="shop")
        answer = await app.answer(request._replace(reply=Reply(question.state, accepted=True)))
    assert isinstance(answer, Answer)
    assert json.loads(answer.text)["error_type"] == "ConsentError"
    assert (tmp_path / "docs/lang/rust.md").exists()
