"""Secrets in whichever form they are written, and log files that nobody else can read."""

import json
import logging
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from mcp_core import App, ToolError, mcp_log
from tests.mcp_core.declared import mutation

SECRET = 'pa"ss\\wörd\nsecond line'


@mutation({"phrase": "x"})
async def log_in(phrase: Annotated[str, Field(description="A phrase.", json_schema_extra={"secret": True})]) -> str:
    logging.getLogger("test").error("repr %r", phrase)
    logging.getLogger("test").error("json %s %s", json.dumps(phrase), json.dumps(phrase, ensure_ascii=False))
    for line in phrase.splitlines():
        logging.getLogger("test").error("line %s", line)
    raise ToolError(f"refused {phrase!r}")


@pytest.fixture
def log_file(tmp_path: Path, request: pytest.FixtureRequest):
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield tmp_path / "server.log"
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize("as_json", [False, True])
async def test_a_declared_secret_is_redacted_in_every_written_form(as_json: bool, log_file: Path):
    mcp_log.configure("INFO", file=log_file, as_json=as_json)
    async with App("test", version="1.0.0", format="result", tools=[log_in]) as app:
        answer = await app.call("log_in", {"phrase": SECRET})
    text = log_file.read_text() + answer.text  # noqa: ASYNC240 - nothing else runs
    assert text.count(mcp_log.REDACTED) >= 6
    assert [part for part in ("ss\\w", "wörd", "w\\u00f6rd", "second", "pa\\") if part in text] == []


def test_a_log_file_is_private(log_file: Path):
    mcp_log.configure("INFO", file=log_file)
    logging.getLogger("test").error("a line")
    assert log_file.stat().st_mode & 0o777 == 0o600
    assert "a line" in log_file.read_text()


@pytest.mark.parametrize("as_json", [False, True])
def test_direction_marks_are_escaped(as_json: bool, log_file: Path):
    mcp_log.configure("INFO", file=log_file, as_json=as_json)
    logging.getLogger("test").error("user \u202eniamda\u2066 x\u200f")
    assert "user \\u202eniamda\\u2066 x\\u200f" in log_file.read_text()


@pytest.mark.parametrize(
    "name", ["tokens", "clientsecret", "auth", "jwt", "signing_key", "accessToken", "refresh_tokens", "X-Auth"]
)
def test_a_secret_name_is_recognized(name: str):
    assert mcp_log.is_secret_name(name)


@pytest.mark.parametrize("name", ["max_tokens", "author", "secretary", "authority", "tokenizer", "tokens_used", "key"])
def test_a_similar_name_is_not_secret(name: str):
    assert not mcp_log.is_secret_name(name)


# Each in two parts: scanners of repositories look for whole ones.
@pytest.mark.parametrize(
    "value",
    [
        "sk-" + "proj-abcdefghij0123456789",
        "ghp" + "_abcdefghijklmnopqrstuvwxyz0123456789",
        "github" + "_pat_11ABCDEFG0abcdefghijkl",
        "glpat" + "-abcdefghij0123456789",
        "xoxb" + "-123456789012-abcdefghijkl",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "AIza" + "SyA-abcdefghijklmnopqrstuvwxyz01234",
        "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl",
    ],
)
def test_a_credential_is_recognized_by_its_shape(value: str):
    assert mcp_log.redact_text(f"sent {value} to it") == "sent [redacted] to it"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("run --password hunter2 --port 1", "run --password [redacted] --port 1"),
        ("run --api-key hunter2", "run --api-key [redacted]"),
        ("<password>hunter2</password>", "<password>[redacted]</password>"),
        (
            "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----",
        ),
        ("the task-list of sk-learn", "the task-list of sk-learn"),
    ],
)
def test_a_secret_in_a_command_or_a_document_is_recognized(text: str, clean: str):
    assert mcp_log.redact_text(text) == clean
