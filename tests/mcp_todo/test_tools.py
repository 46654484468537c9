"""The five tools to the letter of their contract, over real clients in both protocol eras."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from mcp_core import Settings
from mcp_todo.app import build
from tests.mcp_todo.talking import BAD_STATUS, DENIED, EMPTY_TITLE, Call, added

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOTHING_TO_UPDATE = (True, {"error": "Nothing to update: give a title, a description or both"})


async def listed(call: Call, user: str, **more: Any) -> list[dict[str, Any]]:
    failed, value = await call("list_tasks", user_id=user, **more)
    assert not failed, value
    return value


# ---- what an agent sees --------------------------------------------------------------------------

DESCRIPTIONS = {
    "add_task": "Create a new todo task for a user. Use this when the user wants to add, create, or remember something "
    "as a task. Returns the created task's ID, status, and title.",
    "list_tasks": "Retrieve all tasks for a user, optionally filtered by completion status. Use this when the user "
    "wants to see, show, or review their tasks. Returns an array of task objects.",
    "complete_task": "Toggle the completion status of a task. If pending, becomes completed; if completed, reverts to "
    "pending. Use this when the user says they finished, completed, or are done with a task.",
    "delete_task": "Permanently remove a task from the user's list. Use this when the user wants to delete, remove, or "
    "cancel a task. This action cannot be undone.",
    "update_task": "Modify the title and/or description of an existing task. Use this when the user wants to change, "
    "rename, edit, or update a task's details. Only provided fields are updated.",
}
USER_ID = "The unique identifier of the user who owns the task"
STATUS = "Filter by status: 'all' (default), 'pending' (incomplete only), or 'completed' (done only)"


@pytest.mark.requirement("TOD-1", "DOC-6")
async def test_the_tools_and_their_descriptions_are_those_of_the_contract():
    listed = build(Settings()).list_tools()
    assert {tool.name: tool.description for tool in listed} == DESCRIPTIONS


@pytest.mark.requirement("TOD-1", "DOC-6")
async def test_every_argument_has_its_description():
    schemas = {tool.name: tool.input_schema for tool in build(Settings()).list_tools()}
    told = {
        name: {argument: field["description"] for argument, field in schema["properties"].items()}
        for name, schema in schemas.items()
    }
    assert {name: (list(fields), schemas[name]["required"]) for name, fields in told.items()} == {
        "add_task": (["user_id", "title", "description"], ["user_id", "title"]),
        "list_tasks": (["user_id", "status"], ["user_id"]),
        "complete_task": (["user_id", "task_id"], ["user_id", "task_id"]),
        "delete_task": (["user_id", "task_id"], ["user_id", "task_id"]),
        "update_task": (["user_id", "task_id", "title", "description"], ["user_id", "task_id"]),
    }
    assert {fields["user_id"] for fields in told.values()} == {USER_ID}
    assert told["list_tasks"]["status"] == STATUS
    for action in ("complete", "delete", "update"):
        assert told[f"{action}_task"]["task_id"] == f"The unique identifier of the task to {action}"


@pytest.mark.requirement("TOD-1")
async def test_the_schemas_have_the_limits_of_the_contract():
    schemas = {tool.name: tool.input_schema["properties"] for tool in build(Settings()).list_tools()}

    def limits(name: str, argument: str) -> dict[str, Any]:
        return {key: value for key, value in schemas[name][argument].items() if key != "description"}

    title, description = {"type": "string", "minLength": 1, "maxLength": 255}, {"type": "string", "maxLength": 10_000}
    assert limits("add_task", "user_id") == {"type": "string", "minLength": 1, "maxLength": 255}
    assert limits("add_task", "title") == title
    # Left out, it stays: that is what the default says.
    assert limits("update_task", "title") == title
    assert limits("add_task", "description") == limits("update_task", "description") == description
    assert limits("list_tasks", "status") == {
        "type": "string",
        "enum": ["all", "pending", "completed"],
        "default": "all",
    }
    assert limits("delete_task", "task_id") == {"type": "string"}


# ---- answers -------------------------------------------------------------------------------------


@pytest.mark.requirement("TOD-2", "TOD-4")
async def test_a_task_from_its_first_day_to_its_last(call: Call, user: str):
    before = datetime.now(UTC)
    failed, made = await call("add_task", user_id=user, title="Buy milk", description="Two bottles")
    task = made["task_id"]
    assert (failed, made) == (False, {"task_id": str(UUID(task)), "status": "created", "title": "Buy milk"})
    (first,) = await listed(call, user)
    assert before <= datetime.fromisoformat(first["created_at"]) <= datetime.now(UTC)
    assert first["created_at"].endswith("+00:00")
    same = {"id": task, "created_at": first["created_at"]}
    milk = {"title": "Buy milk", "description": "Two bottles", "is_completed": False, **same}
    assert first == milk

    for status, done in (("completed", True), ("pending", False), ("completed", True)):
        toggled = await call("complete_task", user_id=user, task_id=task)
        assert toggled == (False, {"task_id": task, "status": status, "title": "Buy milk"})
        assert await listed(call, user) == [milk | {"is_completed": done}]

    renamed = await call("update_task", user_id=user, task_id=task, title="Buy oat milk")
    assert renamed == (False, {"task_id": task, "status": "updated", "title": "Buy oat milk"})
    described = await call("update_task", user_id=user, task_id=task, description="One bottle")
    assert described == (False, {"task_id": task, "status": "updated", "title": "Buy oat milk"})
    oats = {"title": "Buy oat milk", "description": "One bottle", "is_completed": True, **same}
    assert await listed(call, user) == [oats]

    gone = await call("delete_task", user_id=user, task_id=task)
    assert gone == (False, {"task_id": task, "status": "deleted", "title": "Buy oat milk"})
    assert await listed(call, user) == []
    for tool in ("complete_task", "delete_task"):
        assert await call(tool, user_id=user, task_id=task) == DENIED


@pytest.mark.requirement("TOD-2")
async def test_a_list_is_filtered_by_status_and_the_oldest_comes_first(call: Call, user: str):
    tasks = [await added(call, user, title) for title in ("one", "two", "three")]
    await call("complete_task", user_id=user, task_id=tasks[1])
    titles = {
        status: [task["title"] for task in await listed(call, user, **({"status": status} if status else {}))]
        for status in ("", "all", "pending", "completed")
    }
    assert titles == {
        "": ["one", "two", "three"],
        "all": ["one", "two", "three"],
        "pending": ["one", "three"],
        "completed": ["two"],
    }


@pytest.mark.requirement("TOD-2")
async def test_a_task_without_a_description_has_none(call: Call, user: str):
    await added(call, user)
    await added(call, user, description=None)
    assert [task["description"] for task in await listed(call, user)] == [None, None]


@pytest.mark.requirement("TOD-4")
async def test_an_update_that_changes_nothing_answers_updated(call: Call, user: str):
    task = await added(call, user, description="Two bottles")
    for same in ({"title": "Buy milk"}, {"description": "Two bottles"}, {"title": "Buy milk", "description": None}):
        answer = await call("update_task", user_id=user, task_id=task, **same)
        assert answer == (False, {"task_id": task, "status": "updated", "title": "Buy milk"})


@pytest.mark.requirement("TOD-4")
async def test_a_description_can_be_emptied_and_the_title_stays(call: Call, user: str):
    task = await added(call, user, description="Two bottles")
    await call("update_task", user_id=user, task_id=task, description="")
    assert [(t["title"], t["description"]) for t in await listed(call, user)] == [("Buy milk", "")]


# ---- errors --------------------------------------------------------------------------------------

ID = "8d7ff0e5-6f55-4c8c-9f5b-2d4c1e7a9b10"


@pytest.mark.requirement("TOD-3")
@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("add_task", {"title": ""}, EMPTY_TITLE),
        ("add_task", {"title": " \t\n\u2003"}, EMPTY_TITLE),
        ("add_task", {}, EMPTY_TITLE),
        ("update_task", {"task_id": ID, "title": ""}, EMPTY_TITLE),
        ("update_task", {"task_id": ID, "title": "   "}, EMPTY_TITLE),
        ("update_task", {"task_id": ID}, NOTHING_TO_UPDATE),
        ("update_task", {"task_id": ID, "title": None, "description": None}, NOTHING_TO_UPDATE),
        ("update_task", {"task_id": ID, "title": "Buy milk"}, DENIED),
        ("complete_task", {"task_id": ID}, DENIED),
        ("delete_task", {"task_id": ID}, DENIED),
        ("complete_task", {"task_id": "5"}, DENIED),
        ("delete_task", {"task_id": ""}, DENIED),
        ("delete_task", {"task_id": "x" * 10_000}, DENIED),
        ("complete_task", {"task_id": "' OR '1'='1"}, DENIED),
        ("list_tasks", {"status": "done"}, BAD_STATUS),
        ("list_tasks", {"status": ""}, BAD_STATUS),
        ("list_tasks", {"status": 5}, BAD_STATUS),
        ("list_tasks", {"status": None}, BAD_STATUS),
    ],
)
async def test_an_error_is_that_very_sentence(call: Call, user: str, tool, arguments, said):
    assert await call(tool, user_id=user, **arguments) == said


LONG = "x" * 256
LONGER = "x" * 10_001


@pytest.mark.requirement("TOD-3", "ERR-2")
@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("add_task", {"title": {"a": 5}}, "title: input should be a valid string, got an object"),
        ("add_task", {"title": None}, "title: input should be a valid string, got null"),
        ("add_task", {"title": ["a"]}, "title: input should be a valid string, got a list of 1 entries"),
        ("add_task", {"title": LONG}, "title: string should have at most 255 characters, got "),
        ("add_task", {"title": "\U0001f95b" * 256}, "title: string should have at most 255 characters, got "),
        ("add_task", {"title": "a", "description": LONGER}, "description: string should have at most 10000 characters"),
        ("add_task", {"title": "a", "description": {}}, "description: input should be a valid string, got an object"),
        ("add_task", {"title": "a", "priority": 1}, "priority: is not an argument here; it takes user_id"),
        ("add_task", {"title": "a", "user_id": ""}, "user_id: string should have at least 1 character"),
        ("add_task", {"title": "a", "user_id": LONG}, "user_id: string should have at most 255 characters"),
        ("add_task", {"title": "a", "user_id": None}, "user_id: input should be a valid string, got null"),
        ("update_task", {"task_id": ID, "title": LONG}, "title: string should have at most 255 characters, got "),
        ("update_task", {"task_id": ID, "title": {"a": 5}}, "title: input should be a valid string, got an object"),
        ("complete_task", {}, "task_id: is required, but missing"),
        ("complete_task", {"task_id": {"a": 5}}, "task_id: input should be a valid string, got an object"),
        ("delete_task", {"task_id": None}, "task_id: input should be a valid string, got null"),
        ("list_tasks", {"limit": 5}, "limit: is not an argument here; it takes user_id, status"),
    ],
)
async def test_a_bad_argument_is_an_error_that_says_how_to_correct_it(call: Call, user: str, tool, arguments, words):
    failed, value = await call(tool, **({"user_id": user} | arguments))
    assert (failed, list(value)) == (True, ["error"])
    assert value["error"].startswith(f"Invalid arguments for '{tool}': {words}")
    assert "; " not in value["error"].removeprefix(f"Invalid arguments for '{tool}': {words}")
    assert await listed(call, user) == []


@pytest.mark.requirement("TOD-3")
@pytest.mark.parametrize("where", ["title", "description", "user_id"])
async def test_a_character_that_no_database_holds_is_refused_before_it_is_asked(call: Call, user: str, where: str):
    failed, value = await call("add_task", **({"user_id": user, "title": "a"} | {where: "a\x00b"}))
    assert (failed, list(value)) == (True, ["error"])
    assert value["error"].startswith("The arguments are not valid JSON: text with half a character")


@pytest.mark.requirement("TOD-2")
@pytest.mark.parametrize(
    "title",
    [
        "x" * 255,
        "\U0001f95b" * 255,
        "'; DROP TABLE todo_tasks; --",
        "%s :title {title} $1 ?",
        'Say "hi" \\ back',
        "Zażółć gęślą jaźń 牛乳 حليب",
        "two\nlines",
        "\u202eright to left",
        "null",
    ],
    ids=["255", "255 emoji", "SQL", "placeholders", "quotes", "scripts", "lines", "direction", "null"],
)
async def test_a_title_comes_back_as_it_was_given(call: Call, user: str, title: str):
    task = await added(call, user, title, description=title * (10_000 // len(title)))
    (found,) = await listed(call, user)
    assert (found["title"], found["description"]) == (title, title * (10_000 // len(title)))
    toggled = await call("complete_task", user_id=user, task_id=task)
    assert toggled == (False, {"task_id": task, "status": "completed", "title": title})


async def test_spaces_around_a_title_are_no_part_of_it(call: Call, user: str):
    await added(call, user, "  Buy milk \n")
    await added(call, user, f" {'x' * 255} ")
    assert [task["title"] for task in await listed(call, user)] == ["Buy milk", "x" * 255]


@pytest.mark.requirement("TOD-5")
async def test_a_task_of_one_user_is_not_there_for_another(call: Call, user: str):
    task, other = await added(call, user), f"other-{uuid4()}"
    assert await listed(call, other) == []
    assert await call("complete_task", user_id=other, task_id=task) == DENIED
    assert await call("update_task", user_id=other, task_id=task, title="Mine") == DENIED
    assert await call("delete_task", user_id=other, task_id=task) == DENIED
    assert [(t["title"], t["is_completed"]) for t in await listed(call, user)] == [("Buy milk", False)]
