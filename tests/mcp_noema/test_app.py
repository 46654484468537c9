"""The server as a whole: what an agent sees of it, its size, and which tools need consent."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mcp_core import Settings
from mcp_noema.app import build
from tests.mcp_noema.client_session import COMMAND
from tests.mcp_noema.learner import open_app
from toolcharter.local.app_verification import verify_app

MAX_BYTES = 30_000
"""Of the names, descriptions and input schemas, which are in every request of an agent."""
DECLARED = {
    "dev.toolcharter/" + name
    for name in ("version", "category", "responseTime", "cacheable", "idempotent", "permissions", "tags", "examples")
}

TOOLS = [
    *("create-deck", "get-deck", "list-decks", "search-decks", "update-deck", "delete-deck"),
    *("create-note", "create-card", "create-notes", "update-note", "delete-note"),
    *("get-card", "search-cards", "suspend-cards", "bury-cards", "set-due-date", "reset-cards"),
    *("get-due-cards", "review-next-card", "review-card", "undo-review"),
    *("predict-retention", "get-progress", "get-deck-stats", "get-review-history"),
    *("plan-workload", "optimize-parameters", "preview-reschedule", "reschedule-cards"),
    *("import-anki", "export-anki"),
    *("get-preferences", "set-preference"),
]
CONSENT = {
    "delete-deck": ["DELETE_DECK"],
    "delete-note": ["DELETE_NOTE"],
    "set-due-date": ["SET_DUE_DATE"],
    "reset-cards": ["RESET_CARDS"],
    "reschedule-cards": ["RESCHEDULE_CARDS"],
}


def test_these_are_the_tools():
    assert [tool.name for tool in build(Settings()).list_tools()] == TOOLS


def listed(*options: str) -> str:
    """What `mcp-noema` writes when a client asks for its tools."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    done = subprocess.run(
        [COMMAND, *options],
        input=json.dumps(asked) + "\n",
        env={},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_what_a_model_reads_of_the_tools_is_small_enough_to_be_in_every_request(tmp_path: Path):
    tools = json.loads(listed("--db", f"sqlite:///{tmp_path / 'noema.db'}"))["result"]["tools"]
    assert len(tools) == len(TOOLS)
    read = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    assert len(json.dumps(read, ensure_ascii=False, separators=(",", ":")).encode()) <= MAX_BYTES
    for tool in tools:
        # What no model reads is free, and complete.
        assert set(tool["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["_meta"].keys() >= DECLARED


def descriptions(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Each argument with its description, also inside objects and lists."""
    for name, argument in schema.get("properties", {}).items():
        yield f"{path}.{name}", argument.get("description", "")
        for inner in (argument, argument.get("items", {}), *argument.get("anyOf", ())):
            yield from descriptions(inner, f"{path}.{name}")


def test_every_argument_says_what_it_is_for_to_a_reader_who_sees_nothing_else():
    found = [pair for tool in build(Settings()).list_tools() for pair in descriptions(tool.input_schema, tool.name)]
    assert len(found) > 100
    assert {path: text for path, text in found if len(text.split()) <= 4} == {}


def test_every_tool_says_when_to_use_it_and_what_it_returns():
    for tool in build(Settings()).list_tools():
        assert "deprecated" in tool.description.casefold() or "Use it " in tool.description, tool.name
        assert "Returns " in tool.description, tool.name


def test_every_example_shows_the_content_of_its_result():
    for spec in build(Settings()).registry.get_all():
        assert "<any>" not in json.dumps([example.expected_result for example in spec.examples]), spec.name


def test_the_sdk_and_the_fast_path_list_the_same(tmp_path: Path):
    db = ("--db", f"sqlite:///{tmp_path / 'noema.db'}")
    assert (
        json.loads(listed(*db, "--fast-path", "off"))["result"]["tools"] == json.loads(listed(*db))["result"]["tools"]
    )


def test_full_descriptions_have_all_four_sections(tmp_path: Path):
    text = listed("--db", f"sqlite:///{tmp_path / 'noema.db'}", "--descriptions", "full")
    for tool in json.loads(text)["result"]["tools"]:
        assert "## Concrete Examples" in tool["description"]


@pytest.mark.requirement("CON-1", "CON-2")
def test_changes_that_cannot_be_undone_need_consent():
    tools = {tool.name: tool for tool in build(Settings()).list_tools()}
    literals = {
        name: tool.input_schema["properties"]["explicit_action"]["enum"]
        for name, tool in tools.items()
        if "explicit_action" in tool.input_schema["properties"]
    }
    assert literals == CONSENT
    for name, tool in tools.items():
        assert ("REQUIRES EXPLICIT USER INSTRUCTION" in tool.description) is (name in CONSENT), name
        assert ("explicit_action" in tool.input_schema.get("required", ())) is (name in CONSENT), name
    reading = {name for name, tool in tools.items() if tool.annotations.get("readOnlyHint")}
    looking = ("get-", "list-", "search-", "review-next-", "predict-", "plan-", "preview-")
    assert reading == {name for name in TOOLS if name.startswith(looking)}


def test_the_rules_find_nothing():
    outcome = verify_app(build(Settings()), Path(__file__).parents[2], "noema")
    assert [(finding.rule, finding.tool, finding.message) for finding in outcome.findings] == []


async def test_two_servers_in_one_process_are_separate(tmp_path: Path):
    async with open_app(f"sqlite:///{tmp_path / 'a.db'}") as one, open_app(f"sqlite:///{tmp_path / 'b.db'}") as other:
        await one.call("create-deck", {"name": "French"})
        answers = [await app.call("list-decks", {}) for app in (one, other)]
    assert [json.loads(answer.text)["data"]["total"] for answer in answers] == [1, 0]


def test_calls_that_answer_in_100_ms_are_declared_fast_and_may_wait_for_one_that_writes(default_settings: None):
    app = build(Settings())
    fast = {spec.name for spec in app.registry.get_all() if spec.response_time == "fast"}
    assert {"get-card", "list-decks", "get-due-cards", "review-next-card", "review-card", "undo-review"} <= fast
    assert not fast & {"search-cards", "get-progress", "plan-workload", "import-anki", "suspend-cards"}
    assert app.policy.deadlines["fast"] == 10.0
