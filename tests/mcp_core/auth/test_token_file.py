import json
import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mcp_core import App, Caller, Settings
from mcp_core.auth.caller import digest
from mcp_core.auth.token_file import TokenFile
from mcp_core.auth.token_list import TokenEntry, new_token, read_tokens, write_tokens
from mcp_core.process.start_errors import InvalidSetting

NOW = datetime(2026, 11, 18, tzinfo=UTC)


class Clock:
    """Both clocks, moved by hand."""

    def __init__(self) -> None:
        self.now = NOW.timestamp()

    def __call__(self) -> float:
        return self.now


def entry(name: str, token: str, **fields: Any) -> TokenEntry:
    return TokenEntry(name, digest(token).hex(), **{"user": name, **fields})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.json"


async def test_a_token_of_the_file_stands_for_its_caller(file: Path):
    ann, ben = new_token(), new_token()
    write_tokens(file, [entry("ann", ann, grants=("cards:*",)), entry("ben-laptop", ben, user="ben")])
    app = App("test", version="1.0.0", settings=Settings(tokens=file))
    assert app.verifier is not None
    assert await app.verifier.verify(ann) == Caller("user:ann", "ann", frozenset({"cards:*"}))
    assert await app.verifier.verify(ben) == Caller("user:ben", "ben", frozenset())
    for wrong in ("", new_token(), ann[:-1], ann + " ", ann.upper(), "\ud800", digest(ann).hex(), "x" * 100_000):
        assert await app.verifier.verify(wrong) is None


def test_the_file_has_no_token_and_is_for_its_owner_alone(file: Path):
    token = new_token()
    write_tokens(file, [entry("ann", token)])
    assert token.startswith("tch_")
    assert len(token) == len("tch_") + 43  # 256 bits
    assert token.removeprefix("tch_") not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["tokens.json"]


def test_a_token_that_has_expired_is_refused(file: Path):
    clock, token = Clock(), new_token()
    write_tokens(file, [entry("ann", token, expires=NOW + timedelta(hours=1))])
    tokens = TokenFile(file, clock=clock, timer=clock)
    assert tokens.find(token) is not None
    clock.now += 3599
    assert tokens.find(token) is not None
    clock.now += 1
    assert tokens.find(token) is None


def test_a_revoked_token_is_refused_within_a_second_without_a_restart(file: Path):
    clock, ann, ben = Clock(), new_token(), new_token()
    write_tokens(file, [entry("ann", ann), entry("ben", ben)])
    tokens = TokenFile(file, clock=clock, timer=clock)
    write_tokens(file, [entry("ben", ben)])
    clock.now += 1
    assert tokens.find(ann) is None
    assert tokens.find(ben) is not None


def test_the_file_is_looked_at_once_a_second_at_most(file: Path, monkeypatch: pytest.MonkeyPatch):
    clock, token, looks = Clock(), new_token(), []
    write_tokens(file, [entry("ann", token)])
    tokens = TokenFile(file, clock=clock, timer=clock)
    monkeypatch.setattr("mcp_core.auth.token_file._version", looks.append)
    for _ in range(100):
        clock.now += 0.05
        tokens.find(token)
    assert 4 <= len(looks) <= 5


def test_a_file_that_becomes_unreadable_changes_nothing(file: Path, caplog: pytest.LogCaptureFixture):
    clock, token = Clock(), new_token()
    write_tokens(file, [entry("ann", token)])
    tokens = TokenFile(file, clock=clock, timer=clock)
    for break_it in (lambda: file.write_text("{"), file.unlink):
        caplog.clear()
        break_it()
        clock.now += 1
        assert tokens.find(token) is not None
        assert "The tokens were not changed." in caplog.text
        assert caplog.records[0].levelno == logging.ERROR


def test_a_file_of_plain_tokens_is_read_with_a_warning(file: Path, caplog: pytest.LogCaptureFixture):
    file.write_text(json.dumps({"t-ann": {"user": "ann", "grants": ["cards:*"]}, "t-ben": {"user": "ben"}}))
    tokens = TokenFile(file)
    assert tokens.find("t-ann") == Caller("user:ann", "ann", frozenset({"cards:*"}))
    assert tokens.find("t-ben") == Caller("user:ben", "ben", frozenset())
    assert tokens.find("t-zoe") is None
    assert "has tokens that anyone who reads it can use" in caplog.text
    assert "t-ann" not in repr(vars(tokens))


def test_plain_tokens_of_one_user_get_names_of_their_own(file: Path):
    file.write_text(json.dumps({token: {"user": user} for token, user in (("a", "ann"), ("b", "ann-2"), ("c", "ann"))}))
    assert [one.name for one in read_tokens(file).entries] == ["ann", "ann-2", "ann-3"]


DIGEST = "0" * 64


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no json",
        "[]",
        "5",
        '{"t": "ann"}',
        '{"t": {"grants": []}}',
        '{"t": {"user": "ann", "grants": 5}}',
        '{"t": {"user": ""}}',
        '{"t": {"user": " "}}',
        '{"t": {"user": "local"}}',
        '{"t": {"user": "ann\\nroot"}}',
        '{"t": {"user": 5}}',
        '{"t": {"user": "ann", "grants": [5]}}',
        '{"t": {"user": "ann", "grants": "cards:*"}}',
        '{"version": 1}',
        '{"version": 1, "tokens": []}',
        '{"version": 1, "tokens": {"a": {"user": "ann"}}}',
        '{"version": 1, "tokens": {"a": {"user": "ann", "sha256": "00"}}}',
        '{"version": 1, "tokens": {"a": {"user": "ann", "sha256": 5}}}',
        f'{{"version": 1, "tokens": {{"a": {{"user": "local", "sha256": "{DIGEST}"}}}}}}',
        f'{{"version": 1, "tokens": {{"a": {{"user": "ann", "sha256": "{DIGEST}", "expires": "soon"}}}}}}',
        f'{{"version": 1, "tokens": {{"a": {{"user": "ann", "sha256": "{DIGEST}", "expires": 5}}}}}}',
    ],
)
def test_a_token_file_that_cannot_be_read_stops_the_server_and_says_how_it_should_look(file: Path, content: str):
    file.write_text(content)
    with pytest.raises(InvalidSetting, match=r"is not a readable token file .* it must look like"):
        TokenFile(file)


def test_a_token_file_that_does_not_exist_stops_the_server(tmp_path: Path):
    with pytest.raises(
        InvalidSetting, match=r"none.json does not exist. Create it with `toolcharter token create NAME"
    ):
        App("test", version="1.0.0", settings=Settings(tokens=tmp_path / "none.json"))


def test_a_write_that_fails_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch):
    write_tokens(file, [entry("ann", "t")])
    before = file.read_text()

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_tokens(file, [])
    assert file.read_text() == before
    assert [path.name for path in file.parent.iterdir()] == ["tokens.json"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_the_server_stays_its_own_if_root_changes_it(file: Path):
    write_tokens(file, [])
    os.chown(file, 12345, 12345)
    write_tokens(file, [entry("ann", "t")])
    status = file.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (12345, 12345, 0o600)


def test_a_signal_to_reload_reads_the_file_at_once(file: Path):
    clock, token = Clock(), new_token()
    write_tokens(file, [])
    tokens: Callable[..., Any] | Any = TokenFile(file, clock=clock, timer=clock)
    write_tokens(file, [entry("ann", token)])
    assert tokens.find(token) is None
    tokens.reload()
    assert tokens.find(token) is not None
