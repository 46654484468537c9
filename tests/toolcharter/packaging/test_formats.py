"""What each format gets of a server of somebody else, with settings of every kind."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from toolcharter.packaging.bundle import bundle_files, manifest, zip_bytes
from toolcharter.packaging.folder import package_files, write_files
from toolcharter.packaging.image import compose_file, dockerfile
from toolcharter.packaging.plugin import marketplace_files
from toolcharter.packaging.published import CannotPackage, PublishedServer, read_server
from toolcharter.packaging.reference import llms_txt
from toolcharter.packaging.registry import server_json

KEY = 'Key of the "weather" service: $5.'


@pytest.fixture
def weather(install_weather: Callable[..., None]) -> PublishedServer:
    install_weather(readme="mcp-name: io.github.ana/weather", scripts="acme-weather")
    return read_server("weather")


@pytest.mark.requirement("PKG-3")
def test_the_registry_learns_the_package_its_variables_and_which_of_them_are_secret(weather: PublishedServer):
    assert server_json(weather) == {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.ana/weather",
        "title": "Weather",
        "description": "Weather.",
        "version": "0.4.0-rc.1",
        "repository": {"url": "https://github.com/ana/weather", "source": "github"},
        "websiteUrl": "https://weather.example.com",
        "packages": [
            {
                "registryType": "pypi",
                "registryBaseUrl": "https://pypi.org",
                "identifier": "acme-weather",
                "version": "0.4.0rc1",
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "environmentVariables": [
                    {"name": "TOOLCHARTER_API_KEY", "description": KEY, "isRequired": True, "isSecret": True},
                    {"name": "TOOLCHARTER_CACHE", "description": "Folder for answers.", "format": "filepath"},
                    {"name": "TOOLCHARTER_PLACES", "description": "Only these places."},
                    {
                        "name": "TOOLCHARTER_DAYS",
                        "description": "Days ahead.",
                        "format": "number",
                        "default": "3",
                    },
                    {"name": "TOOLCHARTER_HOURS", "description": "Hours ahead.", "format": "number"},
                    {
                        "name": "TOOLCHARTER_METRIC",
                        "description": "Metres, not feet.",
                        "format": "boolean",
                        "default": "true",
                    },
                    {
                        "name": "TOOLCHARTER_SOURCE",
                        "description": "Where it comes from.",
                        "default": "near",
                        "choices": ["near", "far"],
                    },
                ],
            }
        ],
    }


@pytest.mark.requirement("PKG-3")
def test_our_servers_are_started_by_the_command_that_is_named_like_their_package():
    package = server_json(read_server("todo", namespace="io.github.toolcharter"))["packages"][0]
    version = package["version"]
    assert package["runtimeArguments"] == [
        {"type": "named", "name": "--with", "value": f"toolcharter[todo]=={version}"}
    ]
    assert [one["value"] for one in package["packageArguments"]] == ["stdio", "todo"]


@pytest.mark.requirement("PKG-3")
def test_a_bundle_asks_for_each_setting_in_its_kind(weather: PublishedServer):
    made = manifest(weather)
    assert made["user_config"] == {
        "api_key": {"type": "string", "title": "Api key", "description": KEY, "required": True, "sensitive": True},
        "cache": {
            "type": "directory",
            "title": "Cache",
            "description": "Folder for answers.",
            "required": False,
            "default": "",
        },
        "places": {
            "type": "string",
            "title": "Places",
            "description": "Only these places. Several are separated by commas.",
            "required": False,
            "default": "",
        },
        "days": {"type": "number", "title": "Days", "description": "Days ahead.", "required": False, "default": 3},
        "hours": {"type": "number", "title": "Hours", "description": "Hours ahead.", "required": False},
        "metric": {
            "type": "boolean",
            "title": "Metric",
            "description": "Metres, not feet.",
            "required": False,
            "default": True,
        },
        "source": {
            "type": "string",
            "title": "Source",
            "description": "Where it comes from. One of near, far.",
            "required": False,
            "default": "near",
        },
    }
    assert made["server"]["mcp_config"]["env"]["TOOLCHARTER_API_KEY"] == "${user_config.api_key}"
    assert [tool["name"] for tool in made["tools"]] == ["get_weather"]
    assert made["author"] == {"name": "Ana Lima", "email": "ana@example.com"}


@pytest.mark.requirement("PKG-3")
def test_the_same_server_makes_the_same_bundle(weather: PublishedServer):
    assert zip_bytes(bundle_files(weather)) == zip_bytes(dict(reversed(list(bundle_files(weather).items()))))
    assert b'dependencies = ["acme-weather==0.4.0rc1"]' in bundle_files(weather)["pyproject.toml"]


def test_the_bundle_of_a_project_has_its_sources_and_nothing_that_tools_left_there(
    weather: PublishedServer, tmp_path: Path
):
    project = tmp_path / "build" / "weather"
    kept = ["pyproject.toml", "README.md", "LICENSE", "src/acme/__init__.py", "src/acme/build/words.json"]
    left = [
        "src/acme/__pycache__/a.pyc",
        "src/acme.egg-info/PKG-INFO",
        ".venv/bin/python",
        "tests/test_acme.py",
        ".env",
    ]
    for name in (*kept, *left):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(name)
    files = bundle_files(replace(weather, folder=project))
    assert sorted(files) == sorted([*kept, "manifest.json", "server/main.py"])
    (project / "src").rename(project / "acme_weather")
    assert "acme_weather/acme/build/words.json" in bundle_files(replace(weather, folder=project))
    assert "\nCOPY acme_weather /project/acme_weather\n" in dockerfile(replace(weather, folder=project), tmp_path)
    (project / "acme_weather").rename(project / "elsewhere")
    with pytest.raises(CannotPackage, match=r"has neither a folder src nor the package 'acme_weather'\."):
        bundle_files(replace(weather, folder=project))


@pytest.mark.requirement("PKG-3")
def test_a_plugin_has_the_server_its_questions_and_its_skills(weather: PublishedServer):
    files = marketplace_files([weather])
    assert sorted(files) == [
        ".claude-plugin/marketplace.json",
        "plugins/weather/.claude-plugin/plugin.json",
        "plugins/weather/README.md",
        "plugins/weather/skills/weather-words/SKILL.md",
    ]
    plugin = json.loads(files["plugins/weather/.claude-plugin/plugin.json"])
    assert plugin["mcpServers"]["weather"]["command"] == "uvx"
    assert plugin["mcpServers"]["weather"]["args"] == ["--from", "acme-weather==0.4.0rc1", "acme-weather"]
    assert plugin["userConfig"] == manifest(weather)["user_config"]
    assert files["plugins/weather/skills/weather-words/SKILL.md"] == (
        '---\nname: weather-words\ndescription: "What \\"gale\\" means: a wind."\n---\n\n# Winds\n\nA gale is strong.\n'
    )


def test_a_skill_that_exists_no_more_is_removed_and_nothing_else(weather: PublishedServer, tmp_path: Path):
    kept = [tmp_path / "plugins/weather/notes.md", tmp_path / "plugins/other/skills/one/SKILL.md"]
    gone = tmp_path / "plugins/weather/skills/old/SKILL.md"
    for file in (*kept, gone):
        file.parent.mkdir(parents=True)
        file.write_text("")
    write_files(package_files([weather], tmp_path), tmp_path)
    assert [file.exists() for file in (*kept, gone)] == [True, True, False]


@pytest.mark.requirement("PKG-3")
def test_an_image_is_labelled_checked_and_not_root(weather: PublishedServer, tmp_path: Path):
    text = dockerfile(weather, tmp_path)
    assert 'LABEL io.modelcontextprotocol.server.name="io.github.ana/weather" \\\n' in text
    assert 'pip install --no-cache-dir "acme-weather==0.4.0rc1" "toolcharter[redis]"\n' in text
    assert text.count("\nFROM ") == 2
    assert "\nUSER 10001:10001\n" in text
    assert "/health/live" in text
    assert 'ENTRYPOINT ["acme-weather"]\nCMD ["http", "--host", "0.0.0.0", "--port", "8000", "--tokens", ' in text


def test_docker_replaces_nothing_in_labels(weather: PublishedServer, tmp_path: Path):
    priced = replace(weather, launch=replace(weather.launch, description='$HOME costs "5$"'))
    assert r'image.description="\$HOME costs \"5\$\""' in dockerfile(priced, tmp_path)


@pytest.mark.requirement("PKG-3")
def test_a_compose_file_has_only_the_databases_that_the_server_uses(weather: PublishedServer, tmp_path: Path):
    services = re.compile(r"^  (\w+):$", re.MULTILINE)
    assert services.findall(compose_file(weather, tmp_path)) == ["server", "redis"]
    todo = compose_file(read_server("todo", namespace="com.acme"), tmp_path)
    assert services.findall(todo) == ["server", "postgres", "redis"]
    assert "read_only: true" in todo
    assert "${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD}@postgres" in todo


def test_the_overview_for_models_names_the_tools_and_the_variables(weather: PublishedServer):
    text = llms_txt(weather)
    assert text.startswith("# Weather\n\n> Weather.\n\nAn MCP server. Start it over stdio with `uvx acme-weather`.\n")
    assert "- [get_weather](tools.md#get_weather): Get the weather of a place.\n" in text
    assert f"- `TOOLCHARTER_API_KEY`: {KEY}\n" in text
