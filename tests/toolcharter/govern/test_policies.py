import pytest

from mcp_core.declare.listed import ListedTool
from mcp_core.declare.spec import RateLimit
from toolcharter.govern.charter import ToolPolicy
from toolcharter.govern.intent import Intent, read_intents
from toolcharter.govern.policies import policy_for


def tool(name: str, description: str = "", **annotations: bool) -> ListedTool:
    return ListedTool(name, "", description, {"type": "object"}, annotations=annotations)


def test_the_most_exact_pattern_wins_for_each_field():
    patterns = {
        "files:write_file": ToolPolicy(deadline=3.0),
        "*": ToolPolicy(rate_limit="100/minute", deadline=1.0),
        "files:write_*": ToolPolicy(permissions=["files:write"], deadline=2.0),
        "other:*": ToolPolicy(permissions=["other:all"]),
    }
    policy = policy_for("files", "write_file", Intent(), patterns)
    assert (policy.deadline, policy.permissions) == (3.0, ("files:write",))
    assert policy.rate_limit == RateLimit(100, 60_000)


@pytest.mark.requirement("GOV-3")
def test_deny_wins_over_a_more_exact_allow():
    patterns = {"files:*": ToolPolicy(deny=True), "files:read": ToolPolicy(allow=True)}
    assert not policy_for("files", "read", Intent(), patterns).allowed
    patterns["files:*"] = ToolPolicy(allow=False)
    assert policy_for("files", "read", Intent(), patterns).allowed


def test_arguments_are_narrowed_by_all_patterns_together():
    patterns = {
        "files:*": ToolPolicy(arguments={"path": {"pattern": "^/work/", "maxLength": 100}}),
        "files:write": ToolPolicy(arguments={"path": {"maxLength": 50}, "mode": {"value": "safe"}}),
    }
    policy = policy_for("files", "write", Intent(), patterns)
    assert policy.arguments == {"path": {"pattern": "^/work/", "maxLength": 50}, "mode": {"value": "safe"}}


@pytest.mark.parametrize(
    ("listed", "intent"),
    [
        (tool("read_file", "Read a file."), Intent(False, True, False)),
        (tool("read_file", "Read a file.", readOnlyHint=True), Intent(True, True, False)),
        (tool("write_file", "Write a file."), Intent(False, False, False)),
        (tool("delete_file", "Delete a file."), Intent(False, False, True)),
        (tool("tidy", "Tidies up.", destructiveHint=True), Intent(False, False, True)),
        # It contradicts itself, and the worse is believed.
        (tool("delete_file", "Delete a file.", readOnlyHint=True), Intent(False, False, True)),
        (tool("delete_file", "Delete a file.", destructiveHint=False), Intent(False, False, True)),
        (tool("frobnicate", ""), Intent(False, False, False)),
    ],
)
def test_the_intent_is_read_from_annotations_name_and_description(listed: ListedTool, intent: Intent):
    assert read_intents([listed], "files")[listed.name] == intent


def test_what_looks_destructive_asks_first_until_the_file_says_otherwise():
    destructive = Intent(is_destructive=True)
    assert policy_for("files", "delete_file", destructive, {}).consent == "required"
    allowed = {"files:delete_file": ToolPolicy(consent="never")}
    assert policy_for("files", "delete_file", destructive, allowed).consent == "never"
    assert policy_for("files", "read_file", Intent(is_read_only=True), {}).consent == "never"


def test_only_a_tool_that_says_that_it_reads_is_cached_or_one_of_which_the_file_says_so():
    cached = {"files:*": ToolPolicy(cache=60.0)}
    assert policy_for("files", "a", Intent(declares_read_only=True, is_read_only=True), cached).cache == 60.0
    assert policy_for("files", "a", Intent(is_read_only=True), cached).cache is None
    said = {"files:*": ToolPolicy(cache=60.0, read_only=True)}
    assert policy_for("files", "a", Intent(), said).cache == 60.0
    denied = {"files:*": ToolPolicy(cache=60.0, read_only=False)}
    assert policy_for("files", "a", Intent(declares_read_only=True, is_read_only=True), denied).cache is None
