"""What people say to a todo list, each with the tool that it asks for: is the data fit to measure with?

An object a line in tests/data/todo_utterances.jsonl: `utterance`, `tool` (null where no tool serves it) and, where
they follow from the words alone, `arguments`. Ids and the user do not follow from words, so they never stand there.
"""

import json
from collections import Counter
from pathlib import Path

import jsonschema

from mcp_core import Settings
from mcp_todo.app import build

FILE = Path(__file__).parents[1] / "data" / "todo_utterances.jsonl"
ENTRIES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
SCHEMAS = {tool.name: tool.input_schema for tool in build(Settings()).list_tools()}


def test_there_are_enough_for_every_tool_and_for_none():
    counts = Counter(entry["tool"] for entry in ENTRIES)
    assert set(counts) == {*SCHEMAS, None}
    assert min(counts.values()) >= 25
    assert max(counts.values()) <= 1.25 * min(counts.values())
    assert counts.total() >= 150


def test_no_two_say_the_same():
    said = Counter("".join(filter(str.isalnum, entry["utterance"].casefold())) for entry in ENTRIES)
    assert [words for words, times in said.items() if times > 1] == []


def test_each_entry_fits_the_tool_it_names():
    for entry in ENTRIES:
        assert {"utterance", "tool"} <= set(entry) <= {"utterance", "tool", "arguments"}, entry
        assert entry["utterance"].strip() == entry["utterance"] != "", entry
        if "arguments" in entry:
            assert entry["arguments"], entry
            assert not {"user_id", "task_id"} & set(entry["arguments"]), entry
            jsonschema.validate(entry["arguments"], {**SCHEMAS[entry["tool"]], "required": []})
