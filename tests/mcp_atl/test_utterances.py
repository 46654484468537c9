"""The test data for tool selection: what people say about Jira and Confluence, each with the call that it asks for.

An object a line in tests/data/atl_utterances.jsonl: `utterance`, `tool` (null where no tool serves it), and in
`arguments` those that the words decide.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from mcp_atl.app import COMMANDS
from mcp_atl.command import command_of

FILE = Path(__file__).parents[1] / "data" / "atl_utterances.jsonl"
ENTRIES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
BY_TOOL = {f"atl_{command.name}": command for command in map(command_of, COMMANDS)}


def test_there_are_enough_cases_for_every_tool_and_for_none():
    counts = Counter(entry["tool"] for entry in ENTRIES)
    assert set(counts) == {*BY_TOOL, None}
    assert min(counts.values()) >= 3
    assert counts[None] >= 10
    assert counts.total() >= 80


def test_no_two_cases_are_the_same():
    said = Counter("".join(filter(str.isalnum, entry["utterance"].casefold())) for entry in ENTRIES)
    assert [words for words, times in said.items() if times > 1] == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["utterance"])
def test_the_arguments_of_a_case_are_arguments_of_its_tool(entry):
    assert set(entry) <= {"utterance", "tool", "arguments"}
    arguments = entry.get("arguments", {})
    assert set(arguments) <= {"product", "subject", "parameters"}
    if entry["tool"] is None:
        assert not arguments
        return
    command = BY_TOOL[entry["tool"]]
    assert arguments.get("product", "jira") in ("jira", "confluence")
    assert set(arguments.get("parameters", {})) <= set(command.parameters.model_fields)
    if command.subject.choices:
        assert arguments["subject"] in command.subject.choices
