"""The command `mcp-noema`, as a process: killed, started again, and two of them on one database."""

import asyncio
import json
import subprocess
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.mcp_noema.client_session import COMMAND, LONG_DEADLINE, Call, create_deck, data, error, sdk_call

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


# --- killed ------------------------------------------------------------------------------------------------


def request(number: int, tool: str, **arguments: Any) -> str:
    params = {"name": tool, "arguments": arguments, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}) + "\n"


def value_of(line: str) -> dict[str, Any]:
    result = json.loads(line)["result"]
    assert not result["isError"], result
    return json.loads(result["content"][0]["text"])["data"]


@contextmanager
def served(*options: str) -> Iterator[subprocess.Popen[str]]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([COMMAND, *LONG_DEADLINE, *options], **pipes) as process:
        try:
            yield process
        finally:
            process.kill()
            # What was not written before the kill does not matter.
            with suppress(BrokenPipeError):
                process.stdin.close()


def ask(process: subprocess.Popen[str], tool: str, **arguments: Any) -> dict[str, Any]:
    process.stdin.write(request(0, tool, **arguments))
    process.stdin.flush()
    return value_of(process.stdout.readline())


def answer_until_it_ends(process: subprocess.Popen[str], times: int) -> None:
    with suppress(BrokenPipeError, ValueError):
        for number in range(1, times + 1):
            process.stdin.write(request(number, "review-card", cardId="card_1", grade="good", timeTakenMs=number))
            process.stdin.flush()


def test_every_answer_that_was_recorded_survives_a_kill(db_url):
    with served("--db", db_url) as process:
        deck = ask(process, "create-deck", name="French")["deckId"]
        ask(process, "create-note", deckId=deck, front="the bread", back="le pain")
    recorded: set[str] = set()
    for before_the_kill in (1, 20, 60):
        with served("--db", db_url) as process:
            # Far more than are read below, so the kill comes in the middle of the stream.
            stream = threading.Thread(target=answer_until_it_ends, args=(process, 600))
            stream.start()
            lines = [process.stdout.readline() for _ in range(before_the_kill)]
            process.kill()
            lines += process.stdout.readlines()
            stream.join(30)
        recorded |= {value_of(line)["reviewId"] for line in lines if line.endswith("\n")}
    assert len(recorded) >= 81
    with served("--db", db_url) as process:
        kept = set()
        # Undone one by one, newest first, down to the last recorded review.
        while not recorded <= kept:
            kept.add(ask(process, "undo-review")["undone"])
    assert recorded <= kept


# --- two of them -------------------------------------------------------------------------------------------


@asynccontextmanager
async def two_processes(db: str) -> AsyncIterator[tuple[Call, Call]]:
    server = StdioServerParameters(command=COMMAND, args=["--db", db, *LONG_DEADLINE])
    async with Client(server) as one, Client(server) as other:
        yield sdk_call(one), sdk_call(other)


async def test_two_processes_record_every_answer_once(db_url):
    async with two_processes(db_url) as (one, other):
        _, (card, *_) = await create_deck(one, "French", 3)
        answers = [data(call, "review-card", cardId=card, grade="good") for call in (one, other) * 10]
        reviews = [answer["reviewId"] for answer in await asyncio.gather(*answers)]
        assert len(set(reviews)) == 20
        undone = [(await data(call, "undo-review"))["undone"] for call in (one, other) * 10]
        assert sorted(undone) == sorted(reviews)
        assert (await error(one, "undo-review"))[0] == "ConflictError"


async def test_an_answer_that_is_sent_twice_to_two_processes_is_recorded_once(db_url):
    async with two_processes(db_url) as (one, other):
        _, cards = await create_deck(one, "French", 4)
        sent = [
            data(call, "review-card", cardId=card, grade="good", idempotencyKey=f"key of {card}")
            for card in cards
            for call in (one, other) * 4
        ]
        answers = await asyncio.gather(*sent)
        first = [answer["reviewId"] for answer in answers if not answer["repeated"]]
        assert len(first) == len(set(first)) == len(cards)
        assert Counter(answer["reviewId"] for answer in answers) == dict.fromkeys(first, 8)
        due = {(answer["cardId"], answer["due"], answer["stability"]) for answer in answers}
        assert len(due) == len(cards)


async def test_one_of_two_processes_creates_a_deck_and_the_other_gets_a_conflict(db_url):
    async with two_processes(db_url) as (one, other):
        made = await asyncio.gather(*(call("create-deck", name="Math::Algebra") for call in (one, other) * 5))
        decks = [answer["data"]["deckId"] for failed, answer in made if not failed]
        assert len(decks) == 1
        refused = [answer["error"] for failed, answer in made if failed]
        assert {(fault["type"], fault["kind"]) for fault in refused} == {("ConflictError", "business")}
        assert all(decks[0] in fault["message"] for fault in refused)
        assert [deck["name"] for deck in (await data(other, "list-decks"))["decks"]] == ["Math", "Math::Algebra"]


async def test_notes_that_two_processes_add_at_once_are_stored_once(db_url):
    async with two_processes(db_url) as (one, other):
        deck, _ = await create_deck(one, "French", 1)
        notes = [{"front": f"word {number}", "back": "mot"} for number in range(10)]
        made = await asyncio.gather(
            *(data(call, "create-notes", deckId=deck, notes=notes) for call in (one, other) * 2)
        )
        assert sum(answer["created"] for answer in made) == 10
        assert (await data(other, "get-deck", deckId=deck))["cards"] == 11


# --- a database that cannot be used ------------------------------------------------------------------------


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(
    ("db", "words"),
    [
        ("mysql://ana:secret@db/noema", "'mysql' is not a supported database; write sqlite:///relative/file.db"),
        ("postgresql://ana:secret@127.0.0.1:1/noema", "@127.0.0.1:1/noema cannot be opened: "),
    ],
)
def test_an_unusable_database_ends_the_start_with_a_message(transport, db, words):
    options = ["--port", "0"] if transport == "http" else []
    ended = subprocess.run(
        [COMMAND, transport, "--db", db, *options], input="", capture_output=True, text=True, timeout=60, check=False
    )
    assert words in ended.stderr
    assert (ended.stdout, "Traceback" in ended.stderr, "secret" in ended.stderr) == ("", False, False)
    assert ended.returncode != 0


def test_the_option_user_selects_the_collection(tmp_path):
    db = ("--db", f"sqlite:///{tmp_path / 'noema.db'}")
    with served(*db, "--user", "ana") as process:
        ask(process, "create-deck", name="French")
    for options, decks in ((("--user", "ana"), ["French"]), (("--user", "bob"), []), ((), [])):
        with served(*db, *options) as process:
            assert [deck["name"] for deck in ask(process, "list-decks")["decks"]] == decks
