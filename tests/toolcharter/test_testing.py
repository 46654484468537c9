"""The client in memory."""

import subprocess
import sys
from datetime import date

import pytest
from pydantic import BaseModel
from toolcharter_examples import demo

from mcp_core.auth import user
from mcp_core.calling.render import Format
from toolcharter import App, NotFound, Settings, ToolContext, ToolError
from toolcharter.testing import CallFailed, Client, Elicitation, RequestFailed


class Book(BaseModel):
    title: str
    printed: date


SHELF = [Book(title="Emma", printed=date(1815, 12, 23))]


def library(format: Format = "result") -> App:
    app = App("library", format=format)

    @app.tool
    def find_books(title: str) -> list[Book]:
        """Find books by their title."""
        if found := [book for book in SHELF if title in book.title]:
            return found
        raise NotFound(f"No book {title!r} exists.")

    return app


@pytest.mark.parametrize("format", ["result", "bare", "hints"])
async def test_the_value_has_the_type_that_the_tool_declares(format):
    async with library(format).client() as client:
        result = await client.call_tool("find_books", {"title": "Em"})
    assert (result.data, result.is_error) == (SHELF, False)
    assert "1815-12-23" in result.text
    assert result.content == [{"type": "text", "text": result.text}]


@pytest.mark.parametrize("format", ["result", "bare", "hints"])
async def test_an_error_is_raised_with_its_type_or_returned(format):
    async with library(format).client() as client:
        with pytest.raises(ToolError, match="No book 'Ulysses' exists") as raised:
            await client.call_tool("find_books", {"title": "Ulysses"})
        result = await client.call_tool("find_books", {"title": "Ulysses"}, raise_on_error=False)
    assert isinstance(raised.value, CallFailed)
    assert raised.value.error_type == "NotFoundError"
    assert raised.value.result.is_error
    assert (result.data, result.is_error) == (None, True)


async def test_wrong_arguments_are_an_error_of_the_tool_and_a_wrong_name_one_of_the_protocol():
    async with library().client() as client:
        with pytest.raises(CallFailed, match="title"):
            await client.call_tool("find_books", {"name": "Emma"})
        with pytest.raises(RequestFailed, match="Did you mean 'find_books'") as raised:
            await client.call_tool("find_book")
    assert raised.value.code == -32602


def shop() -> App:
    app = App("shop")

    @app.tool(asks=True)
    async def name_shelf(context: ToolContext) -> str:
        """Ask for the name of a shelf."""
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        answer = await context.ask_user("Which name?", schema)
        return answer.content["name"] if answer.is_accepted else answer.action

    @app.tool
    async def count(context: ToolContext, to: int) -> str:
        """Count, and report."""
        for number in range(to):
            await context.report_progress(number + 1, to)
        return context.user_id or "nobody"

    return app


@pytest.mark.parametrize(
    ("reply", "said"), [({"name": "Novels"}, "Novels"), (False, "decline"), (lambda _: None, "cancel")]
)
async def test_a_question_is_answered_with_a_value(reply, said):
    async with shop().client(reply) as client:
        assert (await client.call_tool("name_shelf")).data == said


async def test_a_function_answers_each_question():
    asked: list[Elicitation] = []

    async def answer(question: Elicitation) -> dict[str, str]:
        asked.append(question)
        return {"name": question.message.upper()}

    async with shop().client(answer) as client:
        assert (await client.call_tool("name_shelf")).data == "WHICH NAME?"
    assert [(question.message, question.url) for question in asked] == [("Which name?", None)]
    assert asked[0].schema["required"] == ["name"]


async def test_without_an_answer_a_client_cannot_be_asked():
    async with shop().client() as client:
        with pytest.raises(CallFailed) as raised:
            await client.call_tool("name_shelf")
    assert raised.value.error_type == "ConsentError"


@pytest.mark.parametrize(("answer", "is_error"), [(True, False), (False, True), (None, False)])
async def test_a_call_is_confirmed_or_not(answer, is_error):
    """Where the client cannot be asked, the consent in the arguments is enough for this tool."""
    async with Client(demo.build(Settings()), answer) as client:
        arguments = {"note_id": "note_1", "explicit_action": "DELETE_NOTE"}
        result = await client.call_tool("delete_note", arguments, raise_on_error=False)
    assert result.is_error is is_error


async def test_the_caller_and_the_progress_are_those_that_are_given():
    done: list[float] = []

    async def progress(number: float, total: float | None, message: str | None) -> None:
        done.append(number)

    async with shop().client(caller=user("ana", ("*",))) as client:
        assert (await client.call_tool("count", {"to": 3}, progress=progress)).data == "ana"
    assert done == [1, 2, 3]


async def test_it_lists_tools_prompts_and_resources():
    async with library().client() as client:
        tools = await client.list_tools()
        assert [tool.name for tool in tools] == ["find_books"]
        assert await client.list_prompts() == []
        uris = [resource["uri"] for resource in await client.list_resources()]
        assert uris == ["toolcharter://tools/find_books"]
        assert "Find books" in (await client.read_resource(uris[0]))[0]["text"]


def test_it_loads_no_mcp_library():
    code = "import sys, toolcharter.testing; print([n for n in ('mcp', 'mcp_types', 'starlette') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
