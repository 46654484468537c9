"""No rule fails, or takes long, on any name, text or annotation; our own servers have no finding."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toolcharter_examples.demo import build as build_demo

from mcp_core import Settings
from mcp_todo.app import build as build_todo
from tests.thorough import examples
from toolcharter.local.app_verification import server_from_app
from toolcharter.verify.engine import example_server, run_rules
from toolcharter.verify.rules import static_rules

RULES = [rule for rule in static_rules() if rule.family in {"naming", "description", "annotations"}]
TEXTS = ["delete", "Get ", "notes", "`", "'", "Args:\n", "    a: ", "(optional)", "\n\n", "```", "# ", "<br>", "|---|"]
TEXTS += [
    "TODO:",
    "Returns",
    "read-only",
    " tool",
    "_",
    "-",
    "V2",
    "获取",
    "é",
    "\u200b",
    "\ud800",
    "",
    " ",
    "1",
    "A",
    ". ",
]
PIECES = st.sampled_from(TEXTS)
TEXT = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=40)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
JSON = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=5
)
HINTS = st.dictionaries(
    st.sampled_from(["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title"]), JSON
)
PROPERTIES = st.dictionaries(TEXT, JSON, max_size=3)
TOOL = st.fixed_dictionaries(
    {"name": TEXT},
    optional={
        "description": TEXT | JSON,
        "title": TEXT | JSON,
        "annotations": HINTS | JSON,
        "inputSchema": st.fixed_dictionaries({"properties": PROPERTIES, "required": st.lists(TEXT, max_size=2)}),
    },
)


@settings(max_examples=examples(200))
@given(st.lists(TOOL, max_size=4))
def test_no_rule_fails_on_any_tool(tools):
    run_rules(example_server(tools), RULES)


@pytest.mark.parametrize(
    "text",
    [
        " " * 20_000,
        "\n" * 20_000,
        "a " * 10_000,
        "`" * 20_000,
        "'a" * 10_000,
        '"' * 20_000,
        "search " * 5_000,
        "Args:\n" + "    a: b\n" * 5_000,
        "Args:\na" + " " * 20_000 + "x",
        "permanently" + " " * 20_000 + "x",
        "takes" + "\n" * 20_000 + "no",
        "| - " * 5_000,
        "|---" * 5_000,
        "```" * 7_000,
        "A" * 20_000,
        "获" * 20_000,
        "get_" * 5_000,
        "call 'a_" + "b" * 20_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_no_rule_takes_long_over_a_long_text(text):
    server = example_server([{"name": text, "description": text, "title": text}, {"description": text}])
    started = time.process_time()
    run_rules(server, RULES)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("build", [build_todo, build_demo])
def test_our_servers_follow_the_rules(build):
    app = build(Settings())
    assert run_rules(server_from_app(app), [rule for rule in RULES if not rule.optional]) == []
