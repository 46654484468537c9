import json
import re
import threading
from pathlib import Path

import pytest

from mcp_core.auth.token_file import TokenFile
from mcp_core.auth.token_list import new_token, read_tokens
from tests.toolcharter.command_line import run
from toolcharter import cli


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "tokens.json"
    monkeypatch.setenv("TOOLCHARTER_TOKENS", str(path))
    return path


def test_a_token_is_created_listed_and_revoked(file: Path, capsys):
    code, token, words = run(
        capsys, "token", "create", "ann-laptop", "--user", "ann", "--grants", "cards:*, notes:read"
    )
    assert code == 0
    assert token.startswith("tch_")
    assert token.count("\n") == 1  # it can be piped
    assert "Token 'ann-laptop' for user 'ann': may use cards:*, notes:read, until " in words
    caller = TokenFile(file).find(token.strip())
    assert caller is not None
    assert (caller.user_id, caller.grants) == ("ann", {"cards:*", "notes:read"})
    run(capsys, "token", "create", "bot", "--expires", "never")
    _, table, _ = run(capsys, "token", "list")
    assert [line.split()[0] for line in table.splitlines()] == ["NAME", "ann-laptop", "bot"]
    assert token.strip() not in table
    assert run(capsys, "token", "revoke", "ann-laptop")[0] == 0
    assert TokenFile(file).find(token.strip()) is None
    assert [entry.name for entry in read_tokens(file).entries] == ["bot"]
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("text", "hours"), [("12h", 12), ("90d", 2160), ("4w", 672), ("1y", 8760), ("never", None)])
def test_a_time_limit_is_a_number_and_a_unit(file: Path, capsys, text: str, hours: int | None):
    assert run(capsys, "token", "create", "ann", "--expires", text)[0] == 0
    (entry,) = read_tokens(file).entries
    assert entry.created is not None
    assert (entry.expires and (entry.expires - entry.created).total_seconds() / 3600) == hours


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["create"], 2, "Name the token: toolcharter token create NAME."),
        (["list", "ann"], 2, "it does not take a name ('ann')"),
        (["list"], 2, "does not exist. Create it with `toolcharter token create NAME"),
        (["revoke", "ann"], 2, "does not exist. Create it with `toolcharter token create NAME"),
        (["create", "a b"], 2, "'a b' is not a name for a token"),
        (["create", "ann", "--user", "local"], 2, "'local' is not the name of a user"),
        (["create", "local"], 2, "'local' is not the name of a user"),
        (["create", "ann", "--grants", "cards"], 2, "--grants: 'cards' is not a permission; write cards:read, cards:*"),
        (["create", "ann", "--expires", "0d"], 2, "--expires: '0d' is not a time; write 12h, 90d, 4w, 1y or never."),
        (["create", "ann", "--expires", "soon"], 2, "--expires: 'soon' is not a time"),
        (["create", "ann", "--tokens", "/no/such/t.json"], 2, "The folder /no/such does not exist."),
    ],
)
def test_a_mistake_is_explained_and_nothing_is_written(file: Path, capsys, words: list[str], code: int, problem: str):
    got, out, err = run(capsys, "token", *words)
    assert (got, out) == (code, "")
    assert problem in err
    assert not file.exists()


def test_a_name_is_used_once_and_an_unknown_one_is_explained(file: Path, capsys):
    run(capsys, "token", "create", "ann")
    code, out, err = run(capsys, "token", "create", "ann")
    assert (code, out) == (1, "")
    assert "A token 'ann' exists. Choose another name" in err
    assert re.search(r"toolcharter token revoke ann --tokens \S+\n$", err)
    code, out, err = run(capsys, "token", "revoke", "ben")
    assert (code, out) == (1, "")
    assert "has no token 'ben'. Tokens: ann." in err


def test_without_a_file_the_command_says_which_option_names_it(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.delenv("TOOLCHARTER_TOKENS", raising=False)
    code, _, err = run(capsys, "token", "list")
    assert (code, err) == (2, "Name the token file: --tokens FILE, or the variable TOOLCHARTER_TOKENS.\n")


def test_plain_tokens_are_replaced_by_their_digests_and_remain_valid(file: Path, capsys):
    file.write_text(json.dumps({"plain-secret": {"user": "ann", "grants": ["cards:read"]}}))
    _, _, err = run(capsys, "token", "create", "ben")
    assert "had 1 token in plain text. It has their digests now; they remain valid." in err
    assert "plain-secret" not in file.read_text()
    caller = TokenFile(file).find("plain-secret")
    assert caller is not None
    assert caller.grants == {"cards:read"}


def test_an_expired_token_is_listed_as_such(file: Path, capsys):
    entry = {"sha256": "0" * 64, "user": "ann", "grants": [], "expires": "2020-01-01T00:00:00+00:00"}
    file.write_text(json.dumps({"version": 1, "tokens": {"old": entry}}))
    assert "2020-01-01 00:00 (expired)" in run(capsys, "token", "list")[1]


def test_an_empty_list_says_how_to_create_a_token(file: Path, capsys):
    advice = "No token exists. Create one with `toolcharter token create NAME`.\n"
    file.write_text('{"version": 1, "tokens": {}}')
    assert run(capsys, "token", "list") == (0, "", advice)


def test_commands_at_the_same_time_lose_no_token(file: Path):
    def create(number: int) -> None:
        with pytest.raises(SystemExit):
            cli.main(["token", "create", f"t{number}"])

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {entry.name for entry in read_tokens(file).entries} == {f"t{number}" for number in range(8)}


def test_tokens_are_random():
    assert len({new_token() for _ in range(1000)}) == 1000
