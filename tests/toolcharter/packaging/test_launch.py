"""How a server is started is read from its entry point and its settings, whoever wrote it."""

import sys
from pathlib import Path

import pytest

from toolcharter.packaging.launch import Launch, LaunchSetting, launch_of

WEATHER = """
from pathlib import Path
from pydantic import Field, SecretStr
from mcp_core.settings.model import TextList, Variable
from toolcharter import App, Settings

class WeatherSettings(Settings):
    unused = frozenset(Settings.model_fields)
    variables = (Variable("WEATHER_PROXY", "Proxy to ask through."),)
    api_key: SecretStr = Field(description="Key of the weather service.")
    cache: Path = Field(default=Path("cache"), title="DIR", description="Folder for answers.")
    places: TextList = Field(default=(), description="Only these places.")
    days: int = Field(default=3, description="Days ahead.")

def build(settings: WeatherSettings) -> App:
    settings.api_key.get_secret_value()
    return App("weather", version="2.1.0", title="Weather", description="Weather for agents.", settings=settings)
"""


@pytest.fixture
def weather(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution of somebody else with a server, as an installer leaves it. Returns the folder of its metadata."""
    metadata = tmp_path / "acme_weather-0.4.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.4\nName: acme-weather\nVersion: 0.4.0\n")
    (metadata / "entry_points.txt").write_text("[toolcharter.servers]\nweather = acme_weather:build\n")
    (tmp_path / "acme_weather.py").write_text(WEATHER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "acme_weather", raising=False)
    return metadata


def test_a_server_of_another_distribution_is_described_whole_though_a_required_setting_is_not_set(weather: Path):
    assert launch_of("weather") == Launch(
        name="weather",
        title="Weather",
        description="Weather for agents.",
        version="2.1.0",
        distribution="acme-weather",
        distribution_version="0.4.0",
        extra=None,
        script=None,
        settings=(
            LaunchSetting("weather_proxy", "WEATHER_PROXY", None, "string", "Proxy to ask through.", own=True),
            LaunchSetting(
                "api_key",
                "TOOLCHARTER_API_KEY",
                "--api-key",
                "secret",
                "Key of the weather service.",
                required=True,
                own=True,
            ),
            LaunchSetting(
                "cache", "TOOLCHARTER_CACHE", "--cache", "directory", "Folder for answers.", "cache", own=True
            ),
            LaunchSetting(
                "places", "TOOLCHARTER_PLACES", "--places", "string", "Only these places.", multiple=True, own=True
            ),
            LaunchSetting("days", "TOOLCHARTER_DAYS", "--days", "number", "Days ahead.", default=3, own=True),
        ),
    )


def test_a_server_without_a_command_of_its_own_is_started_by_ours(weather: Path):
    launch = launch_of("weather")
    assert launch.uvx(pinned=True) == ("uvx", "--with", "acme-weather==0.4.0", "toolcharter", "stdio", "weather")
    assert launch.pipx() is None
    program, *words = launch.installed()
    assert Path(program).is_absolute()
    assert Path(program).stem == "toolcharter"
    assert words == ["stdio", "weather"]


def test_the_command_of_the_servers_own_package_is_used_and_its_extra_is_asked_for(weather: Path):
    with (weather / "METADATA").open("a") as metadata:
        metadata.write("Provides-Extra: weather\n")
    with (weather / "entry_points.txt").open("a") as entries:
        entries.write("[console_scripts]\nacme-forecast = acme_weather:main\nacme-weather = acme_weather:main\n")
    launch = launch_of("weather")
    assert launch.uvx() == ("uvx", "--from", "acme-weather[weather]", "acme-weather")
    assert launch.pipx(pinned=True) == ("pipx", "run", "--spec", "acme-weather[weather]==0.4.0", "acme-weather")


def test_a_command_with_the_name_of_its_distribution_needs_one_word(weather: Path):
    (weather / "entry_points.txt").write_text(
        "[toolcharter.servers]\nweather = acme_weather:build\n[console_scripts]\nacme-weather = acme_weather:main\n"
    )
    assert launch_of("weather").uvx() == ("uvx", "acme-weather")


def test_what_a_person_sets_is_told_by_its_kind():
    kinds = {setting.name: setting.kind for name in ("atl", "guide") for setting in launch_of(name).settings}
    expected = {
        "atlassian_api_token": "secret",
        "atlassian_email": "string",
        "sites": "file",
        "files": "directory",
        "read_only": "boolean",
        "docs_root": "directory",
        "audit_key": "file",
        "audit_rotate_size": "string",
        "threads": "number",
    }
    assert {name: kinds[name] for name in expected} == expected


def test_settings_of_a_server_that_listens_are_not_offered_to_a_client_that_starts_it():
    names = {setting.name for setting in launch_of("todo").settings}
    assert {"host", "port", "tokens"} & names == set()
    assert {"db", "user"} <= names
