import argparse
from pathlib import Path
from typing import Any

import pytest
from pydantic import AliasChoices, Field, SecretStr, ValidationError

from mcp_core.settings.model import Settings, environment_variable, settings_type
from mcp_core.settings.sources import add_options, from_options

pytestmark = pytest.mark.usefixtures("default_settings")


def parse(*words: str) -> Settings:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return from_options(parser.parse_args(words))


GIVEN: list[tuple[str, str, Any]] = [
    ("host", "0.0.0.0", "0.0.0.0"),
    ("port", "9000", 9000),
    ("unix_socket", "server.sock", Path("server.sock")),
    ("tls_cert", "cert.pem", Path("cert.pem")),
    ("tls_key", "key.pem", Path("key.pem")),
    ("allow_hosts", "a.example, b.example", ("a.example", "b.example")),
    ("allow_origins", "https://a.example", ("https://a.example",)),
    ("trusted_proxies", "10.0.0.0/8,unix", ("10.0.0.0/8", "unix")),
    ("fast_path", "off", "off"),
    ("workers", "4", 4),
    ("drain_seconds", "20", 20.0),
    ("max_connections", "50", 50),
    ("max_address_connections", "300", 300),
    ("max_calls", "20", 20),
    ("max_head_bytes", "8192", 8192),
    ("max_headers", "40", 40),
    ("max_body_bytes", "65536", 65536),
    ("head_seconds", "2.5", 2.5),
    ("body_seconds", "5", 5.0),
    ("send_seconds", "5", 5.0),
    ("idle_seconds", "5", 5.0),
    ("db", "sqlite:///tasks.db", "sqlite:///tasks.db"),
    ("redis", "redis://localhost", "redis://localhost"),
    ("redis_timeout", "0.5", 0.5),
    ("limits_without_redis", "closed", "closed"),
    ("idempotency_seconds", "3600", 3600.0),
    ("task_seconds", "2h", 7200.0),
    ("task_keep", "2d", 172_800.0),
    ("tokens", "tokens.json", Path("tokens.json")),
    ("oidc", "https://issuer.example", "https://issuer.example"),
    ("audience", "https://tools.example,api://tools", ("https://tools.example", "api://tools")),
    ("oidc_client", "console", "console"),
    ("oidc_secret", "s3cret", SecretStr("s3cret")),
    ("introspection", "https://issuer.example/introspect", "https://issuer.example/introspect"),
    ("introspection_client", "tools", "tools"),
    ("introspection_secret", "s3cret", SecretStr("s3cret")),
    ("scopes", "cards:read,openid", ("cards:read", "openid")),
    ("policy", "policy.toml", Path("policy.toml")),
    ("user", "user_1", "user_1"),
    ("grants", "cards:read,notes:*", ("cards:read", "notes:*")),
    ("audit", "audit.jsonl", "audit.jsonl"),
    ("audit_failure", "refuse", "refuse"),
    ("audit_key", "audit.key", Path("audit.key")),
    ("audit_rotate_size", "100MB", 100_000_000),
    ("audit_rotate_age", "1d", 86_400.0),
    ("audit_keep", "12w", 12 * 604_800.0),
    ("confirm_in_console", "2m", 120.0),
    ("calls_keep", "12h", 12 * 3600.0),
    ("calls_size", "20MB", 20_000_000),
    ("otlp", "http://localhost:4318", "http://localhost:4318"),
    ("log_level", "TRACE", "TRACE"),
    ("log_file", "server.log", Path("server.log")),
    ("tool_prefix", "guide", "guide"),
    ("descriptions", "full", "full"),
    ("structured", "both", "both"),
    ("deadline", "2.5", 2.5),
    ("threads", "8", 8),
]


def test_every_setting_is_tried_here():
    switches = {"log_json", "log_calls", "hide_removed", "audit_arguments", "no_console"}
    assert {name for name, *_ in GIVEN} | switches == set(Settings.model_fields) - {"settings_file"}


@pytest.mark.parametrize(("name", "text", "value"), GIVEN)
def test_each_setting_is_an_option(name: str, text: str, value: Any):
    assert parse(f"--{name.replace('_', '-')}", text) == Settings(**{name: value})
    assert getattr(Settings(**{name: value}), name) == value


@pytest.mark.parametrize(("name", "text", "value"), GIVEN)
def test_each_setting_is_an_environment_variable(monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: Any):
    monkeypatch.setenv(environment_variable(name), text)
    assert getattr(parse(), name) == value


def test_an_option_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLCHARTER_PORT", "1")
    monkeypatch.setenv("MCP_TOOL_PREFIX", "theirs")
    monkeypatch.setenv("TOOLCHARTER_GRANTS", "a:b")
    made = parse("--port", "2", "--tool-prefix", "", "--grants", "")
    assert (made.port, made.tool_prefix, made.grants) == (2, "", ())


@pytest.mark.requirement("LOG-7")
def test_json_logs_are_switched_on_by_either(monkeypatch: pytest.MonkeyPatch):
    assert (parse().log_json, parse("--log-json").log_json) == (False, True)
    monkeypatch.setenv("TOOLCHARTER_LOG_JSON", "true")
    assert parse().log_json is True


def test_without_anything_the_defaults_hold():
    assert parse().model_dump() == {
        "settings_file": None,
        "host": "127.0.0.1",
        "port": 8000,
        "unix_socket": None,
        "tls_cert": None,
        "tls_key": None,
        "allow_hosts": (),
        "allow_origins": (),
        "trusted_proxies": (),
        "fast_path": "on",
        "no_console": False,
        "hide_removed": False,
        "log_calls": False,
        "workers": 1,
        "drain_seconds": None,
        "max_connections": 1000,
        "max_address_connections": None,
        "max_calls": 500,
        "max_head_bytes": 32768,
        "max_headers": 100,
        "max_body_bytes": 4194304,
        "head_seconds": 10.0,
        "body_seconds": 60.0,
        "send_seconds": 60.0,
        "idle_seconds": 75.0,
        "db": None,
        "redis": None,
        "redis_timeout": 0.1,
        "limits_without_redis": "whole",
        "idempotency_seconds": 86400.0,
        "task_seconds": 3600.0,
        "task_keep": 86400.0,
        "tokens": None,
        "oidc": None,
        "audience": (),
        "oidc_client": None,
        "oidc_secret": None,
        "introspection": None,
        "introspection_client": None,
        "introspection_secret": None,
        "scopes": (),
        "policy": None,
        "user": None,
        "grants": None,
        "audit": None,
        "audit_failure": "continue",
        "audit_arguments": False,
        "audit_key": None,
        "audit_rotate_size": None,
        "audit_rotate_age": None,
        "audit_keep": None,
        "confirm_in_console": None,
        "calls_keep": None,
        "calls_size": 100_000_000,
        "otlp": None,
        "log_level": "INFO",
        "log_file": None,
        "log_json": False,
        "tool_prefix": None,
        "descriptions": None,
        "structured": None,
        "deadline": None,
        "threads": 32,
    }


@pytest.mark.requirement("NAM-1")
@pytest.mark.parametrize(("value", "prefix"), [(None, None), ("", ""), ("guide", "guide")])
def test_the_prefix_is_unset_empty_or_given(monkeypatch: pytest.MonkeyPatch, value: str | None, prefix: str | None):
    if value is not None:
        monkeypatch.setenv("MCP_TOOL_PREFIX", value)
    assert Settings().tool_prefix == prefix


def test_an_empty_variable_is_not_set_as_clients_pass_on_what_their_user_left_out(monkeypatch: pytest.MonkeyPatch):
    for name in Settings.model_fields:
        monkeypatch.setenv(environment_variable(name), "")
    assert Settings() == parse()
    assert (Settings().db, Settings().threads, Settings().log_json) == (None, 32, False)
    assert (Settings().tool_prefix, Settings().grants) == ("", ()), "no prefix and no permissions mean something"


def test_an_empty_variable_does_not_hide_what_a_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "settings.toml").write_text('[server]\nuser = "ana"\n')
    monkeypatch.setenv("TOOLCHARTER_USER", "")
    assert parse("--settings-file", str(tmp_path / "settings.toml")).user == "ana"


@pytest.mark.requirement("NAM-1")
def test_a_variable_without_our_name_is_not_ours(monkeypatch: pytest.MonkeyPatch):
    for name in ("TOOL_PREFIX", "HOST", "PORT", "USER", "REDIS"):
        monkeypatch.setenv(name, "7")
    assert Settings() == parse()
    assert (Settings().tool_prefix, Settings().port, Settings().user) == (None, 8000, None)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("port", 70000),
        ("port", -1),
        ("port", "http"),
        ("log_level", "LOUD"),
        ("descriptions", "long"),
        ("limits_without_redis", "ajar"),
        ("deadline", 0),
        ("colour", "red"),
    ],
)
def test_a_wrong_value_or_an_unknown_setting_is_refused(name: str, wrong: Any):
    with pytest.raises(ValidationError, match=name):
        Settings(**{name: wrong})


def test_settings_are_read_once():
    made = Settings()
    with pytest.raises(ValidationError, match="frozen"):
        made.port = 1


def test_the_help_names_every_variable_and_choice(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        parse("--help")
    shown = " ".join(capsys.readouterr().out.split())
    for name, field in Settings.model_fields.items():
        assert f"--{name.replace('_', '-')}" in shown
        assert f"[{environment_variable(name)}]" in shown
        assert field.description
    assert "--log-level TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL" in shown


def test_the_help_of_a_setting_without_a_description_names_its_variable(capsys: pytest.CaptureFixture[str]):
    class ShopSettings(Settings):
        currency: str = "EUR"

    parser = argparse.ArgumentParser()
    add_options(parser, ShopSettings)
    parser.print_help()
    shown = " ".join(capsys.readouterr().out.split())
    assert "--currency CURRENCY [TOOLCHARTER_CURRENCY]" in shown
    assert "None" not in shown


@pytest.mark.parametrize("words", [("--log-level", "LOUD"), ("--descriptions", "long")])
def test_a_choice_that_is_none_is_refused_by_the_command(words: tuple[str, str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        parse(*words)
    assert "invalid choice" in capsys.readouterr().err


class Further(Settings):
    docs_root: Path | None = Field(default=None, title="DIR", description="Folder of the documents.")


def parse_further(*words: str) -> Settings:
    parser = argparse.ArgumentParser()
    add_options(parser, Further)
    return from_options(parser.parse_args(words), Further)


def test_a_setting_of_one_server_is_an_option_and_a_variable_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("TOOLCHARTER_DOCS_ROOT", "/theirs")
    assert parse_further("--port", "1") == Further(port=1, docs_root=Path("/theirs"))
    assert parse_further("--docs-root", "/mine") == Further(docs_root=Path("/mine"))
    with pytest.raises(SystemExit):
        parse_further("--help")
    assert "--docs-root DIR Folder of the documents. [TOOLCHARTER_DOCS_ROOT]" in " ".join(
        capsys.readouterr().out.split()
    )


def test_the_settings_of_a_server_are_those_that_its_build_function_takes():
    def build(settings: Further) -> None: ...
    def plain(settings): ...
    def with_more(settings: Further, other: "OnlyForTypeCheckers | None" = None) -> None: ...  # noqa: F821 # pyright: ignore[reportUndefinedVariable]

    assert [settings_type(each) for each in (build, plain, object(), print)] == [Further, Settings, Settings, Settings]
    assert settings_type(with_more) is Further


class WithoutDatabase(Further):
    unused = frozenset({"db"})


def test_a_setting_that_a_server_does_not_use_is_not_an_option():
    parser = argparse.ArgumentParser()
    add_options(parser, WithoutDatabase)
    assert set(vars(parser.parse_args([]))) == Further.model_fields.keys() - {"db"}


def test_settings_that_all_servers_share_are_filled_up_for_one_that_has_more(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLCHARTER_DOCS_ROOT", "/theirs")
    monkeypatch.setenv("TOOLCHARTER_PORT", "9")
    shared = Settings(port=1, tool_prefix="", grants=("a:b",))
    assert Further.of(shared) == Further(port=1, tool_prefix="", grants=("a:b",), docs_root=Path("/theirs"))
    own = Further(docs_root=Path("/mine"))
    assert Further.of(own) is own


class WithParts(Settings):
    colours: list[str] = Field(default=[], description="Colours.")
    weights: dict[str, int] | None = Field(default=None, description="Weights.")
    level: int = Field(default=0, validation_alias=AliasChoices("MY_LEVEL", "OLD_LEVEL"), description="A level.")


def test_a_list_or_table_of_a_server_is_json_in_its_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLCHARTER_COLOURS", '["red", "blue"]')
    monkeypatch.setenv("TOOLCHARTER_WEIGHTS", '{"red": 1}')
    assert (WithParts().colours, WithParts().weights) == (["red", "blue"], {"red": 1})
    assert WithParts(colours=["green"]).colours == ["green"]
    monkeypatch.setenv("TOOLCHARTER_COLOURS", "red, blue")
    with pytest.raises(ValidationError, match="colours\n  Input should be a valid list"):
        WithParts()


def test_a_setting_with_names_of_its_own_is_read_from_the_first_that_is_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLCHARTER_LEVEL", "1")
    monkeypatch.setenv("OLD_LEVEL", "2")
    assert WithParts().level == 2
    monkeypatch.setenv("MY_LEVEL", "3")
    assert (WithParts().level, WithParts(level=4).level, WithParts(MY_LEVEL=5).level) == (3, 4, 5)


def test_the_case_of_a_variable_does_not_matter(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("toolcharter_port", "9")
    assert Settings().port == 9
