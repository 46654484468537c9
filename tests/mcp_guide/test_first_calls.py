"""25 calls that a model is likely to make first, with the names and forms that other servers have."""

import json
from pathlib import Path

import pytest
import pytest_asyncio

from mcp_guide.content.tokens import count_tokens
from tests.mcp_guide.guide_server import build_guide, write_documents

FILE = Path(__file__).parents[1] / "data" / "guide_first_calls.jsonl"
CALLS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


@pytest_asyncio.fixture
async def app(tmp_path):
    write_documents(tmp_path / "docs")
    async with build_guide(tmp_path) as app:
        yield app


@pytest.mark.parametrize("call", CALLS, ids=[f"{one['tool']}-{'-'.join(one['arguments'])}" for one in CALLS])
async def test_it_works_at_once(app, call):
    answer = await app.call(call["tool"], call["arguments"])
    assert (answer.is_error, call["has"] in answer.text) == (False, True), answer.text


async def test_a_real_mistake_is_still_an_error_that_names_the_arguments(app):
    answer = await app.call("get_content", {"expression": "lang", "path": "docs"})
    assert "path: is not an argument here; it takes expression, pattern, section" in answer.text


def test_the_reading_tools_alone_cost_little(tmp_path):
    tools = [tool.for_model() for tool in build_guide(tmp_path, tools="read").list_tools()]
    assert [tool["name"] for tool in tools] == ["get_content", "get_outline", "search_content", "get_rules"]
    assert count_tokens(json.dumps(tools, ensure_ascii=False, separators=(",", ":"))) <= 1_200
