"""The prompt `guide`."""

from pathlib import Path

import pytest
from mcp import Client

from mcp_core.hosts.sdk.server import build_server
from mcp_guide.prompts import guide as module
from tests.mcp_guide.guide_server import DISCUSSION, built, place

WORDS = [f"arg{sign}" for sign in "123456789abcdef"]


@pytest.fixture(params=["2026-07-28", "legacy"])
def connected(request: pytest.FixtureRequest, tmp_path: Path) -> Client:
    """A client of either protocol, to be entered by the test."""
    place(tmp_path / "docs")
    return Client(build_server(built(tmp_path)), mode=request.param)


async def said(client: Client, *words: str) -> list[str]:
    given = dict(zip(WORDS, words, strict=False))
    result = await client.get_prompt("guide", given)
    assert {message.role for message in result.messages} == {"user"}
    return [message.content.text for message in result.messages]


@pytest.mark.requirement("GUI-9", "COL-6")
async def test_any_number_of_words_gives_their_documents_in_order(connected):
    async with connected as client:
        text, instruction = await said(client, "lang/python", "docs/api")
        assert text.index("# Python") < text.index("# API")
        assert instruction == f"Run ruff before you show code. {DISCUSSION}"
        every = ["lang/python", "lang/java", "lang/rust", "docs/api", "guidelines", *["lang"] * 10]
        text, _ = await said(client, *every)
        assert [text.count(title) for title in ("# Python", "# Java", "# Rust", "# API", "# Review")] == [1] * 5


@pytest.mark.requirement("GUI-9", "COL-6")
async def test_it_calls_the_tool_s_own_function_and_nothing_around_it(monkeypatch, tmp_path):
    asked = []

    async def get_content(args, guide, context):
        asked.append((args.expression, type(guide).__name__, context))
        return module.Answer.ok({"content": "the text"}, "for the person", "for the agent")

    monkeypatch.setattr(module, "get_content", get_content)
    result = await module.guide("a guide", "a context", arg1="lang/python", argf=" docs ")
    assert asked == [("lang/python,docs", "str", "a context")]
    assert (result.value, result.message, result.instruction) == ("the text", "for the person", "for the agent")


async def test_without_words_it_is_help_with_all_names(connected):
    async with connected as client:
        text, instruction = await said(client)
        assert "@guide EXPRESSION [EXPRESSION ...]" in text
        assert (
            "Project: default, in DISCUSSION mode\nCategories: docs, guidelines, lang\nCollections: none yet\n" in text
        )
        assert instruction == DISCUSSION


@pytest.mark.requirement("DOC-4")
async def test_the_reader_sees_words_and_never_the_arguments(connected):
    async with connected as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert (prompt.name, prompt.title) == ("guide", "Guide")
        assert [argument.name for argument in prompt.arguments] == WORDS
        assert not any(argument.required for argument in prompt.arguments)
        assert "`*args`" in prompt.description
        assert "@guide lang/python docs/api" in prompt.description
        assert not any(word in prompt.description for word in WORDS)
        headings = ["## Conceptual Schema", "## Usage Instructions", "## Concrete Examples"]
        places = [prompt.description.index(heading) for heading in headings]
        assert places == sorted(places)
        assert len(prompt.description.splitlines()[0]) <= 50


async def test_words_that_lead_nowhere_are_an_error_that_names_the_nearest(connected):
    async with connected as client:
        with pytest.raises(Exception, match=r"lang/python\.md"):
            await said(client, "lang/pyton")
