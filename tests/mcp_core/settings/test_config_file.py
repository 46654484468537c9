"""Settings in a file: what wins over what, and where an error is."""

import argparse
from pathlib import Path

import pytest
from pydantic import Field

from mcp_core.process.start_errors import InvalidSetting
from mcp_core.settings.model import Settings
from mcp_core.settings.sources import add_options, from_options, resolve_settings


class OwnSettings(Settings):
    colour: str = Field(default="red", description="A colour.")


FILE = """\
[server]
port = 9000
allow-hosts = ["a.example", "b.example"]
audit-keep = "90d"
user = "ann"

[servers.paint]
colour = "blue"
user = "bob"
"""


def options(*words: str, of: type[Settings] = OwnSettings) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser, of)
    return parser.parse_args(words)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "toolcharter.toml"
    path.write_text(FILE)
    return path


def test_options_win_over_variables_those_over_the_file_and_that_over_defaults(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOOLCHARTER_PORT", "9001")
    words = ("--settings-file", str(file), "--audit-keep", "1d")
    settings, sources = resolve_settings(options(*words), OwnSettings, "paint")
    assert isinstance(settings, OwnSettings)
    assert (settings.port, settings.audit_keep, settings.allow_hosts) == (9001, 86_400.0, ("a.example", "b.example"))
    assert (settings.colour, settings.user, settings.host) == ("blue", "bob", "127.0.0.1")
    assert sources["port"] == "TOOLCHARTER_PORT"
    assert sources["audit_keep"] == "--audit-keep"
    assert sources["allow_hosts"] == f"{file}, line 3"
    assert sources["user"] == f"{file}, line 9"
    assert sources["host"] == "default"


def test_the_variable_names_the_file_and_another_server_does_not_read_the_table(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOOLCHARTER_SETTINGS_FILE", str(file))
    settings = from_options(options(), OwnSettings, "other")
    assert isinstance(settings, OwnSettings)
    assert (settings.port, settings.user, settings.colour) == (9000, "ann", "red")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[server]\nprot = 1\n", "FILE, line 2: server.prot: is not a setting. Did you mean port?"),
        (
            "[server]\nport = 99999\n",
            "FILE, line 2: server.port: input should be less than or equal to 65535, got 9",
        ),
        ("[server]\n\naudit-keep = 'soon'\n", "FILE, line 3: server.audit-keep: write a time such as"),
        ("[servers.paint]\nport = 'x'\n", "FILE, line 2: servers.paint.port: input should be a valid integer"),
        ("[server]\ncolour = 'blue'\n", "FILE, line 2: server.colour: is not a setting."),
        ("[severs.paint]\n", "FILE, line 1: severs: is not a setting. Did you mean servers?"),
        ("server = 5\n", "FILE, line 1: server: is not a table of settings."),
        ("[server]\nconfig = 'other.toml'\n", "FILE, line 2: server.config: is not a setting."),
        ("[server\n", "FILE is not valid TOML"),
        (None, "FILE cannot be read: No such file or directory."),
    ],
)
def test_an_error_names_the_file_the_line_and_the_key(tmp_path: Path, text: str | None, said: str):
    path = tmp_path / "toolcharter.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InvalidSetting) as raised:
        from_options(options("--settings-file", str(path)), OwnSettings, "paint")
    assert str(raised.value).replace(str(path), "FILE").startswith(said)


def test_the_value_of_a_secret_is_not_in_an_error(tmp_path: Path):
    path = tmp_path / "toolcharter.toml"
    path.write_text("[server]\nintrospection-secret = 12345678\n")
    with pytest.raises(InvalidSetting) as raised:
        from_options(options("--settings-file", str(path)), OwnSettings, "paint")
    assert "12345678" not in str(raised.value)
