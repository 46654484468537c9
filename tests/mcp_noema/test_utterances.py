"""The test data for tool selection: what people say to a tutor, each with the tool it asks for.

An object a line in tests/data/noema_utterances.jsonl: `utterance` and `tool`, null where no tool serves it.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from mcp_core import Settings
from mcp_noema.app import build
from toolcharter import cli

FILE = Path(__file__).parents[1] / "data" / "noema_utterances.jsonl"
ENTRIES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def test_there_are_enough_cases_for_every_tool_and_for_none():
    specs = build(Settings()).registry.get_all()
    staying = {spec.name for spec in specs if spec.declaration.deprecated is None}
    counts = Counter(entry["tool"] for entry in ENTRIES)
    assert set(counts) == {*staying, None}
    assert min(counts.values()) >= 5
    assert counts[None] >= 12
    assert counts.total() >= 200


def test_no_two_cases_are_the_same():
    said = Counter("".join(filter(str.isalnum, entry["utterance"].casefold())) for entry in ENTRIES)
    assert [words for words, times in said.items() if times > 1] == []


def test_each_entry_has_the_same_form():
    for entry in ENTRIES:
        assert set(entry) == {"utterance", "tool"}, entry
        assert entry["utterance"].strip() == entry["utterance"] != "", entry


@pytest.mark.parametrize(("selector", "least"), [("bm25", 45), ("embedding", 40)])
def test_the_descriptions_say_what_people_say(selector, least, capsys):
    """With 33 tools to choose from, a guess is right in 3 of 100 cases. A fall comes from a change of wording."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["evaluate", "noema", "--cases", str(FILE), "--selector", selector, "--at-least", str(least)])
    assert not ended.value.code, capsys.readouterr().out
