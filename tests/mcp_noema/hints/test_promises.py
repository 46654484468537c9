"""What every answer of every tool promises: hints, metadata, ids, caching. The promises are those of the specification.

Answers come from the declared examples, from calls that must fail, and from a week of learning.
"""

import ast
import json
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import mcp_noema
from mcp_core import App, Settings
from mcp_core.auth import Caller
from mcp_core.calling.records import Request
from mcp_core.declare.spec import ToolSpec
from mcp_noema.app import build
from mcp_noema.model import ClockAndRandom
from tests.mcp_noema.answer_schema import violations
from tests.mcp_noema.learner import Clock, Learner

SPECS = {spec.name: spec for spec in build(Settings()).registry.get_all()}
SCHEMAS: Mapping[str, dict[str, Any]] = {name: dict(spec.input_schema) for name, spec in SPECS.items()}
QUERIES = [name for name, spec in SPECS.items() if spec.category != "mutation"]
MUTATIONS = [name for name, spec in SPECS.items() if spec.category == "mutation"]
CACHED = [name for name, spec in SPECS.items() if spec.declaration.cache_ttl]
EVERY_TOOL = pytest.mark.parametrize("tool", list(SPECS))

ANYONE = Caller("anyone", grants=frozenset({"*"}))
KINDS = ("card", "deck", "note", "review", "user")


@pytest.fixture(autouse=True)
def _empty_collection(sqlite_collection: Path, tmp_path: Path) -> None:
    shutil.copy(sqlite_collection, tmp_path / "empty.db")


@asynccontextmanager
async def app_with_examples(folder: Path, file: str = "noema.db") -> AsyncIterator[App]:
    """The server with the data of the examples."""
    db = shutil.copy(folder / "empty.db", folder / file)
    async with build(Settings(db=f"sqlite:///{db}", deadline=60), ClockAndRandom(Clock(), None)) as app:
        assert app.prepare_examples is not None
        await app.prepare_examples(app)
        yield app


async def answer_to(app: App, tool: str, arguments: Mapping[str, Any], caller: Caller = ANYONE) -> dict[str, Any]:
    """The answer to a call that the person accepts."""
    answer = await app.answer(Request(tool, arguments, caller, ask=_yes))
    content = json.loads(answer.text)
    assert answer.is_error is ("error" in content)
    return content


async def _yes(_: str) -> bool:
    return True


def example(tool: str) -> dict[str, Any]:
    return dict(SPECS[tool].examples[0].params)


# --- every answer ------------------------------------------------------------------------------------------


@pytest.mark.requirement("HIN-1", "HIN-3", "HIN-4", "MET-1", "MET-2")
@EVERY_TOOL
async def test_the_answer_to_every_example_keeps_all_promises(tool: str, tmp_path: Path):
    for number, shown in enumerate(SPECS[tool].examples):
        async with app_with_examples(tmp_path, f"{number}.db") as app:
            answer = await answer_to(app, tool, shown.params)
        assert "error" not in answer, answer
        assert violations(answer, SCHEMAS) == []


def failing(spec: ToolSpec) -> Iterator[tuple[str, dict[str, Any], Caller]]:
    """Calls that must fail, with the type of the error."""
    given = dict(spec.examples[0].params)
    yield "ValidationError", {**given, "nonsense": 1}, ANYONE
    for name in spec.input_schema.get("required", ()):
        yield "ValidationError", {key: value for key, value in given.items() if key != name}, ANYONE
        yield "ValidationError", given | {name: {"no": "such thing"}}, ANYONE
    for name, kind in id_arguments(spec):
        if name != "cursor":
            yield "NotFoundError", speaking_of(spec, name, f"{kind}_999999"), ANYONE
            # Of the right kind, but no number: nothing can have it.
            yield "NotFoundError", speaking_of(spec, name, f"{kind}_none"), ANYONE
    if spec.permissions:
        yield "PermissionError", given, Caller("stranger", "stranger", frozenset({"nothing:read"}))


def id_arguments(spec: ToolSpec) -> Iterator[tuple[str, str]]:
    """The arguments that take ids, each with their kind."""
    for name, argument in spec.input_schema["properties"].items():
        pattern = argument.get("pattern") or argument.get("items", {}).get("pattern", "")
        if name == "deckId":  # takes a name, too
            yield name, "deck"
        elif found := re.match(r"\^([a-z]+)_", pattern):
            yield name, found[1]


def speaking_of(spec: ToolSpec, name: str, id: str) -> dict[str, Any]:
    """The example of a tool, with that id. A card, a deck or a query: some tools take one of them, not two."""
    optional = {"query", *dict(id_arguments(spec))} - set(spec.input_schema.get("required", ()))
    rest = {key: value for key, value in example(spec.name).items() if key not in optional}
    several = spec.input_schema["properties"][name]["type"] == "array"
    return rest | {name: [id] if several else id}


@pytest.mark.requirement("HIN-1", "HIN-3", "HIN-4", "MET-1", "ERR-1")
@EVERY_TOOL
async def test_the_answer_to_every_failed_call_keeps_all_promises_and_has_its_type(tool: str, tmp_path: Path):
    async with app_with_examples(tmp_path) as app:
        for expected, arguments, caller in failing(SPECS[tool]):
            answer = await answer_to(app, tool, arguments, caller)
            assert answer["error"]["type"] == expected, (arguments, answer)
            assert violations(answer, SCHEMAS) == []
            assert answer["agentHints"]["confidence"] == 0.0


@pytest.mark.requirement("DEF-3")
@EVERY_TOOL
async def test_an_id_of_another_kind_is_refused_before_anything_is_looked_up(tool: str, tmp_path: Path):
    async with app_with_examples(tmp_path) as app:
        for name, kind in id_arguments(SPECS[tool]):
            for other in KINDS:
                if other != kind:
                    answer = await answer_to(app, tool, speaking_of(SPECS[tool], name, f"{other}_1"))
                    assert answer["error"]["type"] == "ValidationError", answer
                    assert f"{other}_1" in answer["error"]["message"]
                    (needed,) = answer["agentHints"]["contextNeeded"]
                    assert needed.startswith(f"a valid value for {name}")


REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("ConflictError", "create-deck", {"name": "languages::FRENCH"}),
    ("ValidationError", "create-deck", {"name": "Languages::"}),
    ("ConflictError", "create-note", {"deckId": "deck_2", "front": "the cheese"}),
    ("ValidationError", "create-note", {"deckId": "deck_2", "front": "No gap.", "kind": "cloze"}),
    ("ConflictError", "create-card", {"deckId": "deck_2", "front": "the cheese"}),
    ("ValidationError", "update-deck", {"deckId": "deck_2"}),
    ("ConflictError", "update-deck", {"deckId": "deck_2", "name": "Languages"}),
    ("ValidationError", "update-note", {"noteId": "note_1"}),
    ("ValidationError", "set-preference", {"name": "timezone", "value": "Middle-earth"}),
    ("ValidationError", "search-cards", {"query": 'deck:French "never closed'}),
    ("ValidationError", "suspend-cards", {}),
    ("ValidationError", "bury-cards", {"cardIds": ["card_1"], "query": "tag:food"}),
    ("ValidationError", "review-card", {"cardId": "card_3", "grade": "good", "reviewedAt": "2031-01-01T00:00:00Z"}),
    ("ConflictError", "review-card", {"cardId": "card_3", "grade": "good", "reviewedAt": "2026-11-16T08:00:00Z"}),
    ("NotFoundError", "import-anki", {"path": "none.apkg"}),
    ("ValidationError", "import-anki", {"path": "../french.apkg"}),
    ("ConflictError", "export-anki", {"path": "french.apkg"}),
]
"""What the rules of learning forbid, with the type of the error."""


@pytest.mark.requirement("HIN-1", "HIN-3", "HIN-4", "MET-1", "ERR-1")
async def test_every_refusal_keeps_all_promises_and_changes_nothing(tmp_path: Path):
    async with app_with_examples(tmp_path) as app:
        before = await everything(app)
        for expected, tool, arguments in REFUSED:
            answer = await answer_to(app, tool, arguments)
            assert (tool, answer["error"]["type"]) == (tool, expected), answer
            assert (tool, violations(answer, SCHEMAS)) == (tool, [])
        assert await everything(app) == before


async def everything(app: App) -> dict[str, Any]:
    """What there is to see, by someone who never asked before."""
    newcomer = Caller(f"newcomer {uuid4()}", grants=frozenset({"*"}))
    return {query: (await answer_to(app, query, example(query), newcomer))["data"] for query in QUERIES}


@pytest.mark.requirement("HIN-1", "CON-3")
@pytest.mark.parametrize("tool", ["delete-deck", "delete-note", "reschedule-cards"])
async def test_a_declined_call_keeps_all_promises_and_changes_nothing(tool: str, tmp_path: Path):
    async def no(_: str) -> bool:
        return False

    async with app_with_examples(tmp_path) as app:
        before = await everything(app)
        answer = json.loads((await app.answer(Request(tool, example(tool), ANYONE, ask=no))).text)
        assert answer["error"]["type"] == "ConsentError"
        assert violations(answer, SCHEMAS) == []
        assert await everything(app) == before


@pytest.mark.requirement("VAL-2", "ERR-2")
async def test_the_id_of_another_user_gives_the_error_of_an_unknown_id(tmp_path: Path):
    """Every tool, with each of its arguments that takes an id: the same words, and nothing has changed."""
    bob, asked = Caller("bob", "bob", frozenset({"*"})), 0
    async with app_with_examples(tmp_path) as app:
        before = await everything(app)
        for tool, (name, kind) in [(tool, pair) for tool, spec in SPECS.items() for pair in id_arguments(spec)]:
            hers, none = [
                await answer_to(app, tool, speaking_of(SPECS[tool], name, which), bob)
                for which in (f"{kind}_1", f"{kind}_999999")
            ]
            assert (tool, name, hers["error"]["type"]) == (tool, name, none["error"]["type"])
            assert hers["error"]["message"] == none["error"]["message"].replace(f"{kind}_999999", f"{kind}_1")
            asked += 1
        assert await everything(app) == before
        for query, empty in (("list-decks", "decks"), ("get-due-cards", "cards"), ("get-review-history", "reviews")):
            assert (query, (await answer_to(app, query, {}, bob))["data"][empty]) == (query, [])
    assert asked > 25


@pytest.mark.requirement("HIN-1", "HIN-3")
async def test_the_error_for_too_many_calls_suggests_to_retry_later(tmp_path: Path):
    async with app_with_examples(tmp_path) as app:
        limit = SPECS["create-notes"].declaration.rate_limit
        assert limit is not None
        for _ in range(limit.max_calls):
            assert "error" not in await answer_to(app, "create-notes", example("create-notes"))
        answer = await answer_to(app, "create-notes", example("create-notes"))
    assert answer["error"]["type"] == "RateLimitError"
    assert violations(answer, SCHEMAS) == []
    (retry,) = answer["agentHints"]["suggestedNextActions"]
    assert (retry["action"], retry["data"]) == ("create-notes", example("create-notes"))


@pytest.mark.requirement("HIN-1", "HIN-3", "HIN-4", "MET-1", "MET-2")
async def test_a_week_of_learning_keeps_all_promises(tmp_path: Path):
    clock = Clock()
    async with build(
        Settings(db=f"sqlite:///{tmp_path / 'noema.db'}", deadline=60), ClockAndRandom(clock, None)
    ) as app:
        ana, seen = Held(app, clock, "ana"), []
        ana.seen = seen
        await ana("list-decks")
        deck = await ana.deck("French", newPerDay=5, reviewsPerDay=3, leechThreshold=1)
        await ana("get-due-cards")
        await ana.notes(deck, 12, kind="basic-reversed")
        await ana("set-preference", name="sessionMinutes", value=1)
        for day in range(7):
            for number in range(30):
                shown = await ana("review-next-card", deckId=deck)
                if "card" not in shown:
                    break
                grade = ("again", "hard", "good", "good", "easy")[(day + number) % 5]
                await ana("review-card", cardId=shown["card"]["cardId"], grade=grade, timeTakenMs=1000 * number)
                clock.forward(seconds=90)
            await ana("get-progress")
            await ana("get-deck-stats", deckId=deck)
            await ana("list-decks")
            clock.forward(days=1)
    assert len(seen) > 100
    assert [sentence for answer in seen for sentence in violations(answer, SCHEMAS)] == []
    kinds = {warning["type"] for answer in seen for warning in answer["agentHints"].get("warnings", ())}
    assert "performance" in kinds
    # The evidence grows from answer to answer, and so does the confidence; it is no constant.
    assert len({answer["agentHints"]["confidence"] for answer in seen}) > 10


class Held(Learner):
    """A learner who keeps all answers."""

    seen: list[dict[str, Any]]

    async def _call(self, tool: str, arguments: dict[str, Any]) -> bool:
        failed = await super()._call(tool, arguments)
        self.seen.append(self.answer)
        return failed


# --- where it comes from -----------------------------------------------------------------------------------


@pytest.mark.requirement("CTX-1", "CTX-2", "MET-1")
async def test_an_answer_has_the_trace_of_its_request_or_a_new_one(tmp_path: Path):
    trace = "0af7651916cd43dd8448eb211c80319c"
    meta = {"traceparent": f"00-{trace}-b7ad6b7169203331-01", "correlationId": "lesson-7"}
    async with app_with_examples(tmp_path) as app:
        content = [
            json.loads((await app.answer(Request("list-decks", {}, ANYONE, "tutor", "2.1.0", meta=given))).text)
            for given in (meta, meta, {}, {})
        ]
    ids = [(answer["metadata"]["traceId"], answer["metadata"]["correlationId"]) for answer in content]
    assert ids[:2] == [(trace, "lesson-7")] * 2
    assert len({made for pair in ids[2:] for made in pair}) == 4
    # A cached answer has the ids of the call that it answers, not of the one that made it.
    assert [answer["metadata"]["cached"] for answer in content] == [False, True, True, True]
    for answer in content[2:]:
        assert violations(answer, SCHEMAS) == []


@pytest.mark.requirement("HIN-2")
def test_no_confidence_is_hard_coded():
    written = [
        f"{file.name}:{node.lineno}"
        for file, node in nodes()
        if (isinstance(node, ast.keyword) and node.arg == "confidence" and is_number(node.value))
        or (isinstance(node, ast.Dict) and any(map(is_confidence, node.keys, node.values)))
    ]
    assert written == []


def nodes() -> Iterator[tuple[Path, ast.AST]]:
    files = sorted(Path(mcp_noema.__file__).parent.rglob("*.py"))
    assert len(files) > 10
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            yield file, node


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def is_confidence(key: ast.AST | None, value: ast.AST) -> bool:
    return isinstance(key, ast.Constant) and key.value == "confidence" and is_number(value)


@pytest.mark.requirement("HIN-3")
def test_every_tool_named_in_the_source_is_registered():
    verbs = "|".join(sorted({name.partition("-")[0] for name in SPECS}))
    # get-card, but not the middle of what-get-card or an import path.
    spoken = re.compile(rf"(?<![\w./-])(?:{verbs})(?:-[a-z]+)+(?![\w/-])")
    unknown = {
        (file.name, name)
        for file, node in nodes()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for name in spoken.findall(node.value)
        if name not in SPECS
    }
    assert unknown == set()


# --- the registry ------------------------------------------------------------------------------------------


@pytest.mark.requirement("NAM-8")
def test_names_are_kebab_case_a_verb_and_a_noun():
    assert [name for name in SPECS if not re.fullmatch(r"[a-z]+(-[a-z]+)+", name)] == []
    # MCP_TOOL_PREFIX goes before each name in the same style.
    app = build(Settings(tool_prefix="learn"))
    assert [tool.name for tool in app.list_tools()] == [f"learn-{name}" for name in SPECS]


@pytest.mark.requirement("REG-1", "DEF-1", "DEF-2")
def test_the_registry_knows_every_tool_by_name_category_and_tag_and_finds_no_fault():
    registry = build(Settings()).registry
    assert {name: registry.get(name) for name in SPECS} == {spec.name: spec for spec in registry.get_all()}
    assert [problem for spec in registry.get_all() for problem in registry.validate(spec)] == []
    categories = ("query", "mutation", "analysis", "generation")
    assert sorted(spec.name for one in categories for spec in registry.get_by_category(one)) == sorted(SPECS)
    assert {spec.name for spec in registry.get_by_tag("decks")} >= {"create-deck", "list-decks", "delete-deck"}
    for spec in registry.get_all():
        assert len(spec.description) >= 50, spec.name
        assert spec.permissions, spec.name
        assert spec.tags, spec.name
        assert spec.examples, spec.name


@pytest.mark.requirement("VER-1")
async def test_the_deprecated_tool_works_with_a_notice(tmp_path: Path, log):
    async with app_with_examples(tmp_path) as app:
        answer = await answer_to(app, "create-card", {"deckId": "deck_2", "front": "the bread", "back": "le pain"})
        card = await answer_to(app, "review-next-card", {"deckId": "deck_2"})
        shown = {tool.name: tool.description for tool in app.list_tools()}["create-card"]
    sentence = "since 1.0.0; use create-note instead. Removal: 2027-05-16."
    assert answer["data"]["fields"] == {"Front": "the bread", "Back": "le pain"}
    assert card["data"]["remaining"]["new"] > 0
    assert answer["agentHints"]["warnings"] == [
        {
            "type": "deprecation",
            "severity": "high",
            "message": f"Deprecated {sentence}",
            "suggestedFix": "Call create-note instead.",
        }
    ]
    assert f"DEPRECATED {sentence}" in shown
    assert [words for level, words in log.messages if level == "WARNING"] == [
        f"Tool create-card is deprecated: Deprecated {sentence}"
    ]


# --- how long it may take ----------------------------------------------------------------------------------


@pytest.mark.requirement("DEF-5", "HIN-1")
async def test_a_call_past_its_deadline_ends_and_leaves_nothing_behind(tmp_path: Path):
    db, clock = tmp_path / "noema.db", ClockAndRandom(Clock(), None)
    async with app_with_examples(tmp_path):
        pass
    async with build(Settings(db=f"sqlite:///{db}", deadline=0.3), clock) as app:
        with closing(sqlite3.connect(db, isolation_level=None)) as other:
            # Another process writes, for as long as it likes.
            other.execute("BEGIN IMMEDIATE")
            late = await answer_to(app, "create-deck", {"name": "Late"})
            other.execute("ROLLBACK")
    assert late["error"]["kind"] == "system", late
    assert "took longer than 0.3 seconds and was stopped" in late["error"]["message"]
    assert violations(late, SCHEMAS) == []
    # A change is not suggested again: whether it took effect is not known to the agent.
    assert late["agentHints"]["suggestedNextActions"] == []
    async with build(Settings(db=f"sqlite:///{db}", deadline=60), clock) as app:
        assert (await answer_to(app, "search-decks", {"words": "Late"}))["data"]["total"] == 0


# --- what is cached ----------------------------------------------------------------------------------------


@pytest.mark.requirement("DEF-4")
def test_only_reads_are_cached():
    assert [name for name in MUTATIONS if SPECS[name].declaration.cache_ttl] == []
    assert {"get-deck", "list-decks", "search-decks", "get-preferences"} <= set(CACHED)


@pytest.mark.requirement("DEF-4", "VAL-2")
@pytest.mark.parametrize("mutation", MUTATIONS)
async def test_no_stale_answer_is_returned_after_a_change(mutation: str, tmp_path: Path):
    """Each cached answer is the one that a caller gets who never asked before, and a mutation is made, not recalled."""
    newcomer = Caller("newcomer", grants=frozenset({"*"}))
    async with app_with_examples(tmp_path) as app:
        for query in CACHED:
            await answer_to(app, query, example(query))
        assert [(await answer_to(app, query, example(query)))["metadata"]["cached"] for query in CACHED] == [
            True
        ] * len(CACHED)
        for _ in range(2):
            made = await answer_to(app, mutation, example(mutation))
            assert made["metadata"]["cached"] is False
            for query in CACHED:
                ours, fresh = [await answer_to(app, query, example(query), who) for who in (ANYONE, newcomer)]
                assert (query, ours["data"], ours.get("error")) == (query, fresh["data"], fresh.get("error"))
            newcomer = Caller("another newcomer", grants=frozenset({"*"}))


@pytest.mark.requirement("DEF-4")
async def test_reads_change_nothing(tmp_path: Path):
    """Whatever is asked, the same questions have the same answers afterwards."""
    async with app_with_examples(tmp_path) as app:
        assert await everything(app) == await everything(app)
