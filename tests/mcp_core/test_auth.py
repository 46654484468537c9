import json
from pathlib import Path
from typing import Any

import pytest

from mcp_core import App, Caller, Settings, StaticTokens
from mcp_core.auth import user
from mcp_core.start_errors import InvalidSetting


async def test_a_token_stands_for_its_caller_and_no_other_token_does():
    tokens = StaticTokens({"t-ann": user("ann", ["cards:read"]), "t-ben": user("ben", [])})
    assert await tokens.verify("t-ann") == Caller("user:ann", "ann", frozenset({"cards:read"}))
    assert await tokens.verify("t-ben") == Caller("user:ben", "ben", frozenset())
    for wrong in ("", "t-an", "t-ann ", "T-ANN", "t-ann\0", "\ud800", "x" * 100_000):
        assert await tokens.verify(wrong) is None


def test_no_token_is_kept_in_memory():
    tokens = StaticTokens({"t-ann-secret": user("ann", [])})
    assert "t-ann-secret" not in repr(vars(tokens))


async def test_tokens_are_read_from_a_file(tmp_path: Path):
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps({"t-ann": {"user": "ann", "grants": ["cards:*"]}, "t-ben": {"user": "ben"}}))
    app = App("test", version="1.0.0", settings=Settings(tokens=file))
    assert app.verifier is not None
    assert await app.verifier.verify("t-ann") == Caller("user:ann", "ann", frozenset({"cards:*"}))
    assert await app.verifier.verify("t-ben") == Caller("user:ben", "ben", frozenset())
    assert await app.verifier.verify("t-zoe") is None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no json",
        "[]",
        '{"t": "ann"}',
        '{"t": {"grants": []}}',
        '{"t": {"user": "ann", "grants": 5}}',
        '{"t": {"user": ""}}',
        '{"t": {"user": " "}}',
        '{"t": {"user": "local"}}',
        '{"t": {"user": 5}}',
        '{"t": {"user": "ann", "grants": [5]}}',
        '{"t": {"user": "ann", "grants": "cards:*"}}',
    ],
)
def test_a_token_file_that_cannot_be_read_stops_the_server_and_says_how_it_should_look(tmp_path: Path, content: str):
    file = tmp_path / "tokens.json"
    file.write_text(content)
    with pytest.raises(InvalidSetting, match=r"is not a readable token file .* it must look like"):
        StaticTokens.from_file(file)


def test_a_token_file_that_is_not_there_stops_the_server(tmp_path: Path):
    with pytest.raises(InvalidSetting, match="is not a readable token file"):
        App("test", version="1.0.0", settings=Settings(tokens=tmp_path / "none.json"))


@pytest.mark.parametrize(
    ("settings", "caller"),
    [
        ({}, Caller("local", None, frozenset({"*"}))),
        ({"grants": ()}, Caller("local", None, frozenset())),
        ({"user": "ann"}, Caller("user:ann", "ann", frozenset({"*"}))),
        ({"user": "ann", "grants": ("cards:read",)}, Caller("user:ann", "ann", frozenset({"cards:read"}))),
    ],
)
def test_who_calls_without_a_token_is_what_the_settings_say(settings: dict[str, Any], caller: Caller):
    assert App("test", version="1.0.0", settings=Settings(**settings)).local_caller == caller
