"""What people say to their agents, each with the tool that it asks for: is the data fit to measure with?

An object a line in tests/data/guide_utterances.jsonl: `utterance` and `tool`, null where no tool serves it.
"""

import json
from collections import Counter
from pathlib import Path

from mcp_core import Settings
from mcp_guide.app import build

FILE = Path(__file__).parents[1] / "data" / "guide_utterances.jsonl"
ENTRIES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def test_there_are_enough_for_every_tool_and_for_none():
    counts = Counter(entry["tool"] for entry in ENTRIES)
    assert set(counts) == {*(tool.name for tool in build(Settings()).list_tools()), None}
    assert min(counts.values()) >= 3
    assert counts[None] >= 12
    assert counts.total() >= 80


def test_no_two_say_the_same():
    said = Counter("".join(filter(str.isalnum, entry["utterance"].casefold())) for entry in ENTRIES)
    assert [words for words, times in said.items() if times > 1] == []


def test_each_entry_has_its_form():
    for entry in ENTRIES:
        assert set(entry) == {"utterance", "tool"}, entry
        assert entry["utterance"].strip() == entry["utterance"] != "", entry
