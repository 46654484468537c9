"""`toolcharter config`: the effective settings, where each was written, and no secrets."""

import json
from pathlib import Path

import pytest

from tests.toolcharter.command_line import run

pytestmark = pytest.mark.usefixtures("default_settings")


def test_settings_are_shown_with_their_sources_and_without_secrets(
    capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "toolcharter.toml"
    file.write_text('[server]\nport = 9000\n\n[servers.todo]\ndb = "postgresql://ann:hunter2@db/todo"\n')
    monkeypatch.setenv("TOOLCHARTER_REDIS", "redis://:hunter3@cache:6379/0")
    monkeypatch.setenv("TOOLCHARTER_INTROSPECTION_SECRET", "hunter4")
    code, shown, _ = run(capsys, "config", "todo", "--settings-file", str(file), "--log-json")
    assert code == 0
    assert shown.splitlines() == [
        f"settings_file = {file}  # --settings-file",
        f"port = 9000  # {file}, line 2",
        f"db = postgresql://ann:[redacted]@db/todo  # {file}, line 5",
        "redis = redis://:[redacted]@cache:6379/0  # TOOLCHARTER_REDIS",
        "introspection_secret = [redacted]  # TOOLCHARTER_INTROSPECTION_SECRET",
        "log_json = true  # --log-json",
    ]
    everything = json.loads(run(capsys, "config", "todo", "--settings-file", str(file), "--json")[1])
    assert everything["host"] == {"value": "127.0.0.1", "source": "default"}
    assert "hunter" not in json.dumps(everything)


def test_a_server_with_options_of_its_own_shows_them(capsys):
    code, shown, _ = run(capsys, "config", "atl", "--all")
    assert code == 0
    assert "host = 127.0.0.1  # default" in shown.splitlines()
    own = set(shown.split()) - set(run(capsys, "config", "--all")[1].split())
    assert own


def test_without_anything_all_are_defaults(capsys):
    assert run(capsys, "config") == (0, "Every setting has its default; --all shows them.\n", "")
