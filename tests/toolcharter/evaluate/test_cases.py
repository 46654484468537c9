from pathlib import Path

import pytest

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.cases import Case, InvalidCases, check_tools, digest, read_cases

MILK = Case("add milk", "add_task", {"title": "Milk"})
MOON = Case("how far is the moon", None)


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_the_same_cases_can_be_written_in_three_formats(tmp_path: Path):
    lines = '{"utterance": "add milk", "tool": "add_task", "arguments": {"title": "Milk"}}\n\n'
    lines += '{"utterance": "how far is the moon", "tool": null}\n'
    table = 'utterance,tool,arguments\nadd milk,add_task,"{""title"": ""Milk""}"\nhow far is the moon,,\n'
    whole = (
        '[{"utterance":"add milk","tool":"add_task","arguments":{"title":"Milk"}},{"utterance":"how far is the moon",'
    )
    whole += '"tool":null}]'
    assert read_cases(written(tmp_path, "a.jsonl", lines)) == [MILK, MOON]
    assert read_cases(written(tmp_path, "a.csv", table)) == [MILK, MOON]
    assert read_cases(written(tmp_path, "a.json", whole)) == [MILK, MOON]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", '{"utterance": "x", "tool": "t"}\n{"utterance": ', "a.jsonl, line 2 is not valid JSON"),
        ("a.jsonl", '\n\n["x"]', "line 3: a case is an object"),
        (
            "a.jsonl",
            '{"utterance": "x"}',
            "line 1: tool must be the name of a tool, or null if none is expected, not None",
        ),
        ("a.jsonl", '{"utterance": "x", "tool": 3}', "line 1: tool must be .* not 3"),
        ("a.jsonl", '{"utterance": " ", "tool": "t"}', "line 1: utterance must be what a person says, not ' '"),
        ("a.jsonl", '{"utterance": "x", "tool": "t", "args": {}}', "line 1: unknown field 'args'"),
        ("a.jsonl", '{"utterance": "x", "tool": "t", "arguments": []}', "line 1: arguments must be an object"),
        (
            "a.jsonl",
            '{"utterance":"x","tool":"t"}\n{"utterance":"x","tool":"u"}',
            "line 2: 'x' is already at .*line 1",
        ),
        ("a.jsonl", "\n", "has no cases"),
        ("a.json", '{"utterance": "x", "tool": "t"}', "must be a list of cases"),
        ("a.json", '[{"utterance": "x", "tool": "t"}, 5]', "entry 2: a case is an object"),
        ("a.csv", "utterance,name\nx,t\n", "line 1: the columns are"),
        ("a.csv", "utterance,tool,arguments\nx,t,{oops\n", "line 2 is not valid JSON"),
    ],
)
def test_a_wrong_case_is_named_with_its_line(tmp_path: Path, name: str, text: str, message: str):
    with pytest.raises(InvalidCases, match=message):
        read_cases(written(tmp_path, name, text))


def test_a_missing_file_is_an_error(tmp_path: Path):
    with pytest.raises(InvalidCases, match=r"nowhere.jsonl cannot be read"):
        read_cases(tmp_path / "nowhere.jsonl")


def test_a_case_must_expect_a_tool_that_exists():
    tools = [ListedTool("add_task", "", "", {}), ListedTool("list_tasks", "", "", {})]
    check_tools([MILK, MOON], tools)
    with pytest.raises(InvalidCases, match=r"'x' expects 'add_tusk', .* Its tools: add_task, list_tasks\."):
        check_tools([Case("x", "add_tusk")], tools)


def test_the_digest_differs_for_other_cases():
    assert digest([MILK, MOON]) == digest([MILK, MOON])
    assert digest([MILK]) != digest([MILK, MOON])
    assert digest([Case("add milk", None)]) != digest([MILK])
