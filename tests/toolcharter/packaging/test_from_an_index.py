"""Servers as people get them: their libraries come from a package index, and toolcharter from a wheel beside it.

Each night only, and where an index can be reached.
"""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import uv
from mcp import Client, StdioServerParameters

from tests.test_distribution import build
from tests.thorough import VARIABLE
from tests.toolcharter.packaging.bundle_client import client_config
from toolcharter.packaging.bundle import bundle_files, zip_bytes
from toolcharter.packaging.libraries import install_libraries
from toolcharter.packaging.published import CannotPackage, PublishedServer, read_server
from toolcharter.packaging.registry import server_json

pytestmark = pytest.mark.skipif(VARIABLE not in os.environ, reason="loads libraries; --thorough runs it")

PATIENCE = 200


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where uv finds toolcharter, and everything else. Skips the tests if there is no index."""
    folder = tmp_path_factory.mktemp("index")
    build(folder)
    variables = {"UV_FIND_LINKS": str(folder), "UV_CACHE_DIR": str(folder / "cache"), "HOME": str(folder)}
    command = [uv.find_uv_bin(), "tool", "run", "toolcharter", "--version"]
    done = subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"no package index can be reached: {done.stderr.splitlines()[-1]}")
    return variables


@pytest.fixture
def todo() -> PublishedServer:
    return read_server("todo", namespace="io.github.toolcharter")


async def tools_of(command: str, words: list[str], variables: dict[str, str]) -> list[str]:
    environment = {name: os.environ[name] for name in os.environ if name.startswith(("UV_", "PIP_", "SSL_", "PATH"))}
    start = StdioServerParameters(command=command, args=words, env=environment | variables)
    async with Client(start, read_timeout_seconds=PATIENCE) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


TOOLS = ["add_task", "list_tasks", "complete_task", "delete_task", "update_task"]


async def test_a_client_of_the_registry_starts_a_server_by_its_entry(index: dict[str, str], todo: PublishedServer):
    package = server_json(todo)["packages"][0]
    assert package["runtimeHint"] == "uvx"
    runtime = [word for one in package["runtimeArguments"] for word in (one["name"], one["value"])]
    words = [one["value"] for one in package["packageArguments"]]
    identifier = f"{package['identifier']}=={package['version']}"
    assert await tools_of(uv.find_uv_bin(), ["tool", "run", *runtime, identifier, *words], index) == TOOLS


async def test_a_client_with_uv_starts_a_bundle(index: dict[str, str], todo: PublishedServer, tmp_path: Path):
    config = unpacked(zip_bytes(bundle_files(todo)), tmp_path)
    assert await tools_of(uv.find_uv_bin(), config["args"], index | config["env"]) == TOOLS


async def test_a_client_with_python_starts_a_bundle_that_has_its_libraries(
    index: dict[str, str], todo: PublishedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PIP_FIND_LINKS", index["UV_FIND_LINKS"])
    try:
        install_libraries(todo, tmp_path / "libraries")
    except CannotPackage as error:
        pytest.skip(f"pip reaches no index: {error}")
    config = unpacked(zip_bytes(bundle_files(todo, "python", tmp_path / "libraries")), tmp_path)
    assert config["command"] == "python3"
    # An environment without packages: all that is imported is in the bundle.
    words = ["-S", *config["args"]]
    assert await tools_of(sys.executable, words, {"HOME": str(tmp_path), **config["env"]}) == TOOLS


def unpacked(bundle: bytes, folder: Path) -> dict[str, object]:
    """Unpack a bundle as a client does, and return how it is started."""
    (folder / "todo.mcpb").write_bytes(bundle)
    with zipfile.ZipFile(folder / "todo.mcpb") as archive:
        archive.extractall(folder / "unpacked")
    manifest = json.loads((folder / "unpacked" / "manifest.json").read_text())
    return client_config(manifest, folder / "unpacked", {})
