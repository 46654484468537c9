"""What `toolcharter new` writes is a server that installs, passes its own tests, serves, and can be published."""

import json
import subprocess
import sysconfig
import zipfile
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.clients.over_http import served
from tests.toolcharter.packaging.bundle_client import start_of
from tests.toolcharter.packaging.new_server import NewServer, make_server
from toolcharter.packaging.bundle import bundle_files
from toolcharter.packaging.published import read_server

FILES = [
    ".github/workflows/check.yml",
    ".gitignore",
    "README.md",
    "contracts/mcp-weather.json",
    "pyproject.toml",
    "src/mcp_weather/__init__.py",
    "src/mcp_weather/app.py",
    "src/mcp_weather/main.py",
    "src/mcp_weather/tools.py",
    "tests/conftest.py",
    "tests/test_tools.py",
]
FIRST = {"name": "first", "text": "Replace these entries with what your server knows."}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> NewServer:
    return make_server(tmp_path_factory.mktemp("new"), "--namespace", "io.github.ana")


@pytest.mark.requirement("PKG-4")
def test_its_own_tests_pass_and_include_its_example_and_the_rules(server: NewServer):
    done = server.run("pytest", "-v", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    assert "get_weather: The first entry PASSED" in done.stdout
    assert "test_an_agent_gets_the_entry_as_json PASSED" in done.stdout


@pytest.mark.requirement("PKG-4")
def test_it_is_known_by_its_name_verified_without_findings_and_as_locked(server: NewServer):
    verified = server.run("toolcharter", "verify", "weather", "--severity", "note")
    assert (verified.returncode, "No findings" in verified.stdout) == (0, True), verified.stdout
    locked = server.run("toolcharter", "lock", "--check")
    assert (locked.returncode, locked.stdout) == (0, "contracts/mcp-weather.json: 1 tool, as locked.\n")


@pytest.mark.requirement("PKG-4")
async def test_a_client_calls_it_over_stdio_and_over_http(server: NewServer, tmp_path: Path):
    command = server.program("mcp-weather")
    async with Client(StdioServerParameters(command=command)) as client:
        assert json.loads((await client.call_tool("get_weather", {"name": "first"})).content[0].text) == FIRST
    with served([command], tmp_path / "http.log") as url:
        async with Client(url) as client:
            result = await client.call_tool("get_weather", {"name": "third"})
    assert result.is_error
    assert "No entry 'third' exists. The entries are: first, second." in result.content[0].text


@pytest.mark.requirement("PKG-4")
async def test_its_bundle_starts_as_a_client_starts_it(server: NewServer, tmp_path: Path):
    done = server.run("toolcharter", "package", "--output", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "io.github.ana/weather 0.1.0\n" in done.stdout
    assert "to do" not in done.stdout
    with zipfile.ZipFile(tmp_path / "weather" / "mcp-weather-0.1.0.mcpb") as bundle:
        bundle.extractall(tmp_path / "bundle")
    async with Client(start_of(tmp_path / "bundle", server.folder / ".venv")) as client:
        assert json.loads((await client.call_tool("get_weather", {"name": "first"})).content[0].text) == FIRST


@pytest.mark.requirement("PKG-4")
def test_its_ci_job_is_one_of_github_actions(server: NewServer):
    checker = Path(sysconfig.get_path("scripts"), "check-jsonschema")
    job = server.folder / ".github" / "workflows" / "check.yml"
    subprocess.run([checker, "--builtin-schema", "vendor.github-workflows", job], check=True, timeout=100)


@pytest.mark.requirement("PKG-3")
async def test_a_bundle_of_an_installed_server_starts_with_what_its_user_filled_in(server: NewServer, tmp_path: Path):
    files = bundle_files(read_server("todo", namespace="io.github.toolcharter"))
    for place, content in files.items():
        (tmp_path / "bundle" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bundle" / place).write_bytes(content)
    start = start_of(tmp_path / "bundle", server.folder / ".venv", user="ana")
    assert start.env is not None
    assert (start.env["TOOLCHARTER_USER"], start.env["TOOLCHARTER_DB"]) == ("ana", "")
    start.env["TOOLCHARTER_THREADS"] = "${user_config.threads}"  # as clients leave it where there is no answer
    async with Client(start) as client:
        await client.call_tool("add_task", {"user_id": "ana", "title": "Buy milk"})
        tasks = json.loads((await client.call_tool("list_tasks", {"user_id": "ana"})).content[0].text)
    assert [task["title"] for task in tasks] == ["Buy milk"]
