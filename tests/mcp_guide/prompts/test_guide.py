"""The prompt `guide`."""

from pathlib import Path

import pytest
from mcp import Client

from mcp_core.hosts.sdk.server import build_server
from mcp_guide.active_project import ActiveProjects
from mcp_guide.configuration.file import ConfigurationFile
from mcp_guide.guide import Guide
from mcp_guide.prompts import guide as module
from tests.mcp_guide.guide_server import build_guide, write_documents

ARGUMENTS = [f"arg{sign}" for sign in "123456789abcdef"]


@pytest.fixture(params=["2026-07-28", "legacy"])
def connected(request: pytest.FixtureRequest, tmp_path: Path) -> Client:
    """A client of each protocol, which the test enters."""
    write_documents(tmp_path / "docs")
    return Client(build_server(build_guide(tmp_path)), mode=request.param)


async def get_messages(client: Client, *words: str) -> list[str]:
    result = await client.get_prompt("guide", dict(zip(ARGUMENTS, words, strict=False)))
    assert {message.role for message in result.messages} == {"user"}
    return [message.content.text for message in result.messages]


@pytest.mark.requirement("GUI-9", "COL-6")
async def test_any_number_of_words_gives_their_documents_in_order(connected):
    async with connected as client:
        text, instruction = await get_messages(client, "lang/python", "docs/api")
        assert text.index("# Python") < text.index("# API")
        assert instruction == "Run ruff before you show code."
        every = ["lang/python", "lang/java", "lang/rust", "docs/api", "guidelines", *["lang"] * 10]
        text, _ = await get_messages(client, *every)
        assert [text.count(title) for title in ("# Python", "# Java", "# Rust", "# API", "# Review")] == [1] * 5


@pytest.mark.requirement("GUI-9", "COL-6")
async def test_it_calls_the_function_of_the_tool_directly(monkeypatch, tmp_path):
    calls = []

    async def get_content(args, guide, context):
        calls.append((args.expression, type(guide).__name__, context))
        return module.GuideResult.ok({"content": "the text"}, "for the person", "for the agent")

    monkeypatch.setattr(module, "get_content", get_content)
    guide = Guide(ConfigurationFile(tmp_path / "guide.yaml"), ActiveProjects(), None, tmp_path)
    result = await module.guide(guide, "a context", arg1="lang/python", argf=" docs ")
    assert calls == [("lang/python,docs", "Guide", "a context")]
    assert (result.value, result.message, result.instruction) == ("the text", "for the person", "for the agent")


async def test_without_words_it_shows_help_with_all_names(connected):
    async with connected as client:
        (text,) = await get_messages(client)
        assert "@guide EXPRESSION [EXPRESSION ...]" in text
        assert (
            "Project: default\nCategories: docs, guidelines, lang\n"
            "Collections: No collection exists yet. Create one with add_collection.\n"
        ) in text


@pytest.mark.requirement("DOC-4")
async def test_the_description_shows_words_and_never_the_arguments(connected):
    async with connected as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert (prompt.name, prompt.title) == ("guide", "Guide")
        assert [argument.name for argument in prompt.arguments] == ARGUMENTS
        assert not any(argument.required for argument in prompt.arguments)
        assert all("such as lang/python" in (argument.description or "") for argument in prompt.arguments)
        assert "`*args`" in prompt.description
        assert "@guide lang/python docs/api" in prompt.description
        assert not any(word in prompt.description for word in ARGUMENTS)
        headings = ["## Conceptual Schema", "## Usage Instructions", "## Concrete Examples"]
        places = [prompt.description.index(heading) for heading in headings]
        assert places == sorted(places)
        assert len(prompt.description.splitlines()[0]) <= 50


async def test_an_unknown_name_is_an_error_with_a_suggestion(connected):
    async with connected as client:
        with pytest.raises(Exception, match=r"lang/python\.md"):
            await get_messages(client, "lang/pyton")
