"""What is published of a server: the name in the registry, the version, and what is missing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_core.process.start_errors import CannotStart
from toolcharter.packaging.names import declared_names, github_namespace
from toolcharter.packaging.published import About, project_servers, read_server

Install = Callable[..., None]


def test_a_distribution_says_who_wrote_it_and_where(install_weather: Install):
    install_weather(readme="# Weather\n\nmcp-name: io.github.ana/weather\n", scripts="acme-weather")
    server = read_server("weather")
    assert server.about == About(
        author="Ana Lima",
        email="ana@example.com",
        license="MIT",
        homepage="https://weather.example.com",
        repository="https://github.com/ana/weather",
        keywords=("weather", "forecast"),
        python=">=3.12",
        readme="# Weather\n\nmcp-name: io.github.ana/weather\n",
    )
    assert (server.registry_name, server.version, server.problems()) == ("io.github.ana/weather", "0.4.0-rc.1", [])


@pytest.mark.parametrize(
    ("readme", "namespace", "name"),
    [
        ("mcp-name: com.acme/weather", None, "com.acme/weather"),
        ("<!-- mcp-name: com.acme/acme-weather -->", None, "com.acme/acme-weather"),
        ("mcp-name: com.acme/weather", "org.example", "org.example/weather"),
        ("mcp-name: com.acme/something-else", None, "io.github.ana/weather"),
        ("no name", None, "io.github.ana/weather"),
    ],
)
def test_the_name_comes_from_the_option_the_readme_or_the_repository(
    readme: str, namespace: str | None, name: str, install_weather: Install
):
    install_weather(readme=readme)
    assert read_server("weather", namespace=namespace).registry_name == name


def test_without_any_of_them_the_error_says_what_to_write(install_weather: Install):
    install_weather(metadata="Metadata-Version: 2.4\nName: acme-weather\nVersion: 0.4.0\n")
    with pytest.raises(CannotStart) as error:
        read_server("weather")
    assert str(error.value) == (
        "The name of 'weather' in the registry is not known. Give --namespace io.github.ana, or add a line such as "
        "<!-- mcp-name: io.github.ana/weather --> to the README of acme-weather."
    )


def test_what_is_left_to_do_is_listed(install_weather: Install):
    install_weather(readme="mcp-name: io.github.ana/weather-evil", scripts="weather-server")
    line, command = read_server("weather").problems()
    assert line == "Add this line to the README of acme-weather: <!-- mcp-name: io.github.ana/weather -->"
    assert command == (
        "Clients of the registry start it with `uvx acme-weather`, so name its command like that under "
        "[project.scripts]."
    )


def test_the_namespace_of_a_new_project_must_be_replaced(install_weather: Install):
    install_weather(readme="mcp-name: io.github.example/weather", scripts="acme-weather")
    assert read_server("weather").problems() == [
        "Replace io.github.example in the line mcp-name of the README by a namespace of yours."
    ]


def test_a_description_that_the_registry_would_refuse_is_an_error(install_weather: Install):
    install_weather(description="x" * 101)
    with pytest.raises(CannotStart, match=r"'weather' has 101 characters, and the registry allows 100\. Shorten"):
        read_server("weather")


@pytest.mark.parametrize("text", ["Weather.\nUSER root", "Weather.\x1b[2J", "Weather\u202e."])
def test_a_description_that_could_leave_its_line_is_refused(text: str, install_weather: Install):
    install_weather(description=text)
    with pytest.raises(CannotStart, match="The description of 'weather' must be one line of plain text: "):
        read_server("weather")


def test_a_name_that_could_leave_the_folder_is_refused(install_weather: Install, tmp_path: Path):
    install_weather()
    entries = next((tmp_path / "site").glob("*.dist-info")) / "entry_points.txt"
    entries.write_text("[toolcharter.servers]\n../weather = acme_weather:build\n")
    with pytest.raises(CannotStart, match=r"The server '../weather' cannot be packaged: its files are named for it"):
        read_server("../weather")


@pytest.mark.parametrize(
    ("written", "version"),
    [("1.2.3", "1.2.3"), ("1.2", "1.2.0"), ("1", "1.0.0"), ("1.0.0.dev3", "1.0.0-dev.3"), ("2.0b1", "2.0.0-b.1")],
)
def test_versions_are_those_of_semantic_versioning(written: str, version: str, install_weather: Install):
    install_weather(metadata=f"Metadata-Version: 2.4\nName: acme-weather\nVersion: {written}\n")
    assert read_server("weather", namespace="com.acme").version == version


def test_names_in_a_readme_are_whole_names():
    text = "mcp-name: io.github.ana/weather.\n<!-- mcp-name: com.acme/b-2 -->mcp-name: none"
    assert declared_names(text) == ["io.github.ana/weather", "com.acme/b-2"]
    assert github_namespace("https://github.com/ana/weather.git") == "io.github.ana"
    assert github_namespace("https://gitlab.com/ana/weather") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "pyproject.toml does not exist. Give the folder of a project, or an installed server: "),
        ("[project", "pyproject.toml is not TOML: "),
        ("project = 1", "pyproject.toml registers no server."),
        ("[project]\nname = 'x'", "pyproject.toml registers no server. Add [project.entry-points"),
        (
            '[project.entry-points."toolcharter.servers"]\nstorm = "storm:build"',
            "The server 'storm' of .* is not installed here. Run: pip install --editable",
        ),
    ],
)
def test_a_folder_that_is_not_an_installed_project_is_explained(text: str | None, reason: str, tmp_path: Path):
    if text is not None:
        (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(CannotStart, match=reason.replace("[", r"\[")):
        project_servers(tmp_path)
