"""Whatever JSON arrives, each call has a clear, typed answer, and the server goes on serving."""

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toolcharter_examples import demo

from mcp_core import Answer, App, Caller, Request, Settings, UnknownTool
from tests.thorough import examples

ERROR_TYPES = {"ValidationError", "NotFoundError", "RateLimitError", "ResultError"}
LEAKS = re.compile(
    r"Traceback|File \\?\"|\.py\b|/work/|/root/|/home/|site-packages|pydantic|mcp_core|toolcharter_examples"
    r"|0x[0-9a-f]{6}"
)
ARGUMENTS = {
    "add": ("a", "b"),
    "list_notes": ("words", "limit", "offset", "cursor"),
    "get_note": ("note_id",),
    "create_note": ("title", "body"),
    "delete_note": ("note_id", "explicit_action"),
    "digest_notes": (),
    "find_notes": ("words",),
}


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


any_text = st.text(st.characters(codec=None, categories=None), max_size=20)  # half characters too
# By number: what cannot be written out cannot be shown by Hypothesis either.
ODD: list[Any] = [
    *(float("nan"), float("inf"), float("-inf"), -0.0, 1e308, 5e-324),
    *(10**30, -(10**30), 10**4299, 9 * 10**4299, 10**5000, 2**63, -(2**63) - 1),
    *("\ud800", "\udfff", "a\ud800b", "\0", "\u2028", "\x1b[31m", "{note_id}", "%s", "note_1", "note_", "DELETE_NOTE"),
    *("__import__('os')", "../../etc/passwd", "note_1\n", "'; DROP TABLE notes; --", "NaN"),
]
HUGE: list[Any] = ["x" * 200_000, "note_" + "x" * 200_000, [0] * 100_000, {"k" * 100_000: 1}]
odd = st.integers(0, len(ODD) - 1).map(lambda number: ODD[number])
huge = st.integers(0, len(HUGE) - 1).map(lambda number: HUGE[number])
deep = st.sampled_from([200, 260, 900, 20_000]).map(nested)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | any_text | odd
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4))
anything = values | deep | huge
plausible = st.integers(-2, 120) | st.sampled_from(["note_1", "note_2", "DELETE_NOTE", "welcome", ""])


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A tool of the demo, some of its arguments with any value, and some that it does not have."""
    tool = draw(st.sampled_from(list(ARGUMENTS)))
    chosen = draw(st.sets(st.sampled_from(ARGUMENTS[tool]))) if ARGUMENTS[tool] else set()
    own = {name: draw(plausible | anything) for name in sorted(chosen)}
    return tool, own | draw(st.dictionaries(any_text, values, max_size=2))


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    """One app for all examples: what one call breaks, the next would meet."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def app(loop: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    audit = tmp_path_factory.mktemp("audit") / "audit.jsonl"
    made = demo.build(Settings(audit=audit))
    loop.run(made.__aenter__())
    yield made
    loop.run(made.__aexit__(None, None, None))
    for line in audit.read_text(encoding="utf-8").splitlines():
        json.loads(line, parse_constant=pytest.fail)


def strictly(text: str) -> dict[str, Any]:
    """Read JSON as strict readers do: UTF-8, and no NaN."""
    return json.loads(text.encode("utf-8"), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def texts_in(*values: Any) -> str:
    """All text that was sent, as far as it can be quoted."""
    found, rest = [""], list(values)
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            rest += [*value, *value.values()]
        elif isinstance(value, list):
            rest += value
        elif isinstance(value, str):
            found.append(value)
    return " ".join(found)


def assert_clear(answer: Any, sent: str) -> None:
    assert isinstance(answer, Answer)
    made = strictly(answer.text)
    assert made.keys() >= {"data", "agentHints", "metadata"}
    if not answer.is_error:
        assert made["data"] is not None
        assert "error" not in made
        return
    assert made["data"] is None
    assert made["error"]["type"] in ERROR_TYPES
    assert made["error"]["message"]
    assert [leak for leak in LEAKS.findall(answer.text) if leak not in sent] == []


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(call=calls(), meta=st.dictionaries(st.sampled_from(["traceparent", "correlationId", "x"]), scalars, max_size=2))
def test_random_json_never_breaks_a_tool_of_the_demo(
    loop: asyncio.Runner,
    app: App,
    caplog: pytest.LogCaptureFixture,
    call: tuple[str, dict[str, Any]],
    meta: dict[str, Any],
):
    caplog.set_level("TRACE")
    caplog.clear()  # or it would keep them all
    tool, arguments = call
    caller = Caller("user:eve", grants=frozenset({"*"}))
    answer = loop.run(app.answer(Request(tool, arguments, caller, "\ud800", "\0", meta=meta)))
    assert_clear(answer, texts_in(arguments, meta))
    if tool == "add" and not answer.is_error:
        assert strictly(answer.text)["data"] == arguments["a"] + arguments["b"]
    sum_of_two = loop.run(app.call("add", {"a": 2, "b": 3}))
    assert strictly(sum_of_two.text)["data"] == 5


@settings(max_examples=examples(50))
@given(name=any_text)
def test_a_tool_of_a_random_name_is_unknown(loop: asyncio.Runner, app: App, name: str):
    with pytest.raises(UnknownTool):
        loop.run(app.answer(Request(f"{name}?", {})))


WRONG = {
    "a 10 MB name": ("create_note", {"x" * 10_000_000: 1}, "ValidationError"),
    "nesting without end": ("add", {"a": nested(20_000), "b": 1}, "ValidationError"),
    "nesting that JSON readers take": ("add", {"a": nested(150), "b": 1}, "ValidationError"),
    "NaN": ("add", {"a": float("nan"), "b": 1}, "ValidationError"),
    "half a character": ("create_note", {"title": "\ud800"}, "ValidationError"),
    "a number without end": ("add", {"a": 10**5000, "b": 1}, "ValidationError"),
    "a sum that is too long to write": ("add", {"a": 9 * 10**4299, "b": 9 * 10**4299}, "ResultError"),
    "missing": ("add", {"a": 1}, "ValidationError"),
    "extra": ("add", {"a": 1, "b": 2, "c": 3}, "ValidationError"),
    "out of range": ("list_notes", {"limit": 101}, "ValidationError"),
    "another brand": ("get_note", {"note_id": "card_1"}, "ValidationError"),
    "a newline after an id": ("get_note", {"note_id": "note_1\n"}, "ValidationError"),
    "not there": ("get_note", {"note_id": "note_99"}, "NotFoundError"),
    "a wrong literal": ("delete_note", {"note_id": "note_1", "explicit_action": "delete_note"}, "ValidationError"),
}


WRONG |= {
    f"10 MB as {name} of {tool}": (tool, {name: "x" * 10_000_000}, "ValidationError")
    for tool, names in ARGUMENTS.items()
    for name in names
}


@pytest.mark.requirement("ERR-1")
@pytest.mark.parametrize(("tool", "arguments", "error_type"), WRONG.values(), ids=WRONG)
async def test_each_kind_of_bad_input_has_its_typed_error_and_nothing_is_done(
    tool: str, arguments: dict[str, Any], error_type: str
):
    async with demo.build(Settings()) as app:
        answer = await app.call(tool, arguments)
        assert_clear(answer, "")
        assert strictly(answer.text)["error"]["type"] == error_type
        assert len(answer.text) < 5000
        listed = strictly((await app.call("list_notes")).text)
    assert listed["data"] == [{"id": "note_1", "title": "Welcome"}]


SECRETS = [5, 10**5000, nested(20_000), ["\ud800"], {"a": float("nan")}, True]


@pytest.mark.parametrize("secret", SECRETS, ids=["number", "long", "deep", "half", "nan", "true"])
async def test_bad_input_in_a_secret_field_is_refused_like_any_other(secret: Any):
    app = App("test", version="1.0.0", format="result")

    @app.tool()
    async def log_in(password: str) -> str:
        return "in"

    async with app:
        answer = await app.call("log_in", {"password": secret})
    assert strictly(answer.text)["error_type"] == "ValidationError"
