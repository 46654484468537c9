"""What the documents show is a file, and it works."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from toolcharter_examples.noema_agent import learn
from toolcharter_examples.todo_agent import keep_list

from tests.clients.scripted import Scripted

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("file", ["hello.py", "words.py", "demo.py", "on_fastmcp.py"])
async def test_each_example_serves_its_tools_over_stdio(file):
    parameters = StdioServerParameters(command=sys.executable, args=[str(ROOT / "examples" / file)])
    async with Client(parameters) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names
        if "count_words" in names:
            result = await client.call_tool("count_words", {"text": "one two"})
            assert json.loads(result.content[0].text) == 2
        if "shout" in names:
            assert (await client.call_tool("shout", {"text": "hi"})).content[0].text == "HI"


async def test_the_todo_agent_remembers_what_it_was_told(tmp_path):
    async def asked():
        yield "Don't let me forget the passport"
        yield "What is left?"
        yield "Got it, it is in my bag"

    model = Scripted(
        lambda _: ("add_task", {"user_id": "ana", "title": "Passport"}),
        lambda seen: f"Noted: {json.loads(seen[0])['title']}.",
        lambda _: ("list_tasks", {"user_id": "ana", "status": "pending"}),
        lambda seen: f"Left: {', '.join(task['title'] for task in json.loads(seen[1]))}.",
        lambda _: ("complete_task", {"user_id": "bob", "task_id": "passport"}),
        lambda seen: (
            "complete_task" if "access denied" in seen[2] else "list_tasks",
            {"user_id": "ana", "task_id": json.loads(seen[0])["task_id"]},
        ),
        lambda seen: f"It is {json.loads(seen[3])['status']}.",
    )
    options = ("--db", f"sqlite:///{tmp_path / 'todo.db'}")
    answers = [answer async for answer in keep_list(asked(), "ana", model=model, options=options)]
    assert answers == ["Noted: Passport.", "Left: Passport.", "It is completed."]


async def test_the_tutor_asks_grades_and_goes_on_from_one_turn_to_the_next(tmp_path):
    async def asked():
        yield "I want to learn two capitals: Paris for France, Rome for Italy. Quiz me"
        yield "Paris!"
        yield "No idea"

    def first_step(seen: list[str], **known: object) -> tuple[str, dict[str, object]]:
        step = json.loads(seen[-1])["agentHints"]["suggestedNextActions"][0]
        return step["action"], step.get("data", {}) | known

    def front(seen: list[str]) -> str:
        data = json.loads(seen[-1])["data"]
        return data.get("next", data)["card"]["front"]  # an answer brings the next card

    notes = [{"front": "France", "back": "Paris"}, {"front": "Italy", "back": "Rome"}]
    model = Scripted(
        lambda _: ("create-deck", {"name": "Capitals"}),
        lambda seen: first_step(seen, notes=notes),
        first_step,
        lambda seen: f"What is the capital of {front(seen)}?",
        lambda seen: first_step(seen, grade="easy"),
        lambda seen: f"Right. And of {front(seen)}?",
        lambda seen: first_step(seen, grade="again"),
        lambda seen: f"Rome. It comes back in {json.loads(seen[-1])['data']['dueIn']}.",
    )
    options = ("--db", f"sqlite:///{tmp_path / 'noema.db'}")
    answers = [answer async for answer in learn(asked(), model=model, options=options)]
    assert answers == ["What is the capital of France?", "Right. And of Italy?", "Rome. It comes back in 1m."]


@pytest.mark.parametrize("file", ["todo_agent.py", "noema_agent.py"])
def test_an_agent_says_what_it_needs(file):
    command = [sys.executable, str(ROOT / "examples" / file)]
    environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert done.stderr == "Set OPENAI_API_KEY to the key of your OpenAI account, and start again.\n"


def test_every_json_in_the_documents_can_be_copied():
    pages = {page: page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))}
    blocks = [block for text in pages.values() for block in re.findall(r"(`{3,})json\n(.*?)\1", text, re.DOTALL)]
    assert len(blocks) > 10
    for _, block in blocks:
        json.loads(block)


def test_every_link_in_the_documents_leads_to_a_file():
    missing = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in (ROOT / "README.md", *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
        for link in re.findall(r"\]\((?!https?://|#|accountid:)([^)#]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert missing == []
