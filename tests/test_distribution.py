"""What people install: the wheel, not the checkout, in an environment of its own for each extra."""

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.thorough import VARIABLE

ROOT = Path(__file__).resolve().parents[1]
UV = Path(sys.executable).with_name("uv")
SOURCES = ("src", "examples", "pyproject.toml", "setup.py", "README.md", "LICENSE")
SERVERS = {"todo": "add_task", "guide": "guide_get_content", "noema": "review-card", "atl": "atl_search"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def build(folder: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is made from it, of a copy of the sources."""
    copy = folder / "copy"
    for name in SOURCES:
        source, target = ROOT / name, copy / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, target)
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1767225600"}
    command = [UV, "build", "--quiet", "--offline", "--no-build-isolation", "--python", sys.executable, "-o", folder]
    subprocess.run([*command, copy], env=environment, check=True, capture_output=True)
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("build"))


@functools.cache
def requirements(name: str, extras: frozenset[str]) -> frozenset[str]:
    """The distributions that an installer would bring, by what the installed ones say."""
    found: set[str] = set()
    for needed in map(Requirement, distribution(name).requires or ()):
        if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            other = canonicalize_name(needed.name)
            found |= {other} | requirements(other, frozenset(needed.extras))
    return frozenset(found)


def link(installed: Distribution, site_packages: Path) -> None:
    """Show an installed distribution in another environment: its packages, and file by file what others share."""
    files = {str(file): file for file in installed.files or () if ".." not in file.parts}
    tops = {file.parts[0] for file in files.values()}
    whole = {top for top in tops if top.endswith(".dist-info") or f"{top}/__init__.py" in files}
    for name in whole | {name for name, file in files.items() if file.parts[0] not in whole}:
        target = site_packages / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(Path(str(installed.locate_file(name))))


def install(wheel: Path, folder: Path, *extras: str) -> Path:
    """A new environment with the wheel and the libraries of its extras, and no other. Returns its programs.

    The libraries are those of the tests, so that nothing is loaded from an index.
    """
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    python = folder / "bin/python"
    wheel_only = [UV, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", python, wheel]
    subprocess.run(wheel_only, check=True)
    site_packages = next(folder.glob("lib/python*/site-packages"))
    for name in requirements("toolcharter", frozenset(extras)) - {"toolcharter"}:
        link(distribution(name), site_packages)
    return python.parent


@pytest.fixture(scope="module")
def plain(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a plain install."""
    return install(built[1], tmp_path_factory.mktemp("plain"))


def run(command: list[str | Path], home: Path, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command of an environment, with nothing of this one."""
    environment = {"HOME": str(home), "PATH": os.defpath, "COLUMNS": "120"}
    options = {"env": environment, "cwd": home, "capture_output": True, "text": True, "timeout": 110}
    return subprocess.run(command, check=False, input=text, **options)


def listed_tools(command: list[str | Path], home: Path) -> list[str]:
    """The tools that a server lists over stdio."""
    request = LIST | {"params": {"_meta": META}}
    done = run(command, home, json.dumps(request) + "\n")
    assert done.returncode == 0, done.stderr
    return [tool["name"] for tool in json.loads(done.stdout)["result"]["tools"]]


def test_the_wheel_has_every_file_of_every_package(built: tuple[Path, Path]):
    packed = set(zipfile.ZipFile(built[1]).namelist())
    sources = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*") if path.is_file()}
    sources = {name for name in sources if "__pycache__" not in name and ".egg-info" not in name}
    sources |= {f"toolcharter_examples/{path.name}" for path in (ROOT / "examples").glob("*.py")}
    assert sorted(sources - packed) == []
    assert sorted(name for name in packed - sources if ".dist-info/" not in name) == []


def test_two_builds_are_the_same_byte_for_byte(built: tuple[Path, Path], tmp_path: Path):
    again = build(tmp_path)
    assert [hashlib.sha256(file.read_bytes()).hexdigest() for file in again] == [
        hashlib.sha256(file.read_bytes()).hexdigest() for file in built
    ]


@pytest.mark.requirement("PKG-1")
@pytest.mark.parametrize("server", SERVERS)
def test_each_extra_brings_the_command_of_its_server(built: tuple[Path, Path], server: str, tmp_path: Path):
    programs = install(built[1], tmp_path / "environment", server)
    own, ours = [programs / f"mcp-{server}"], [programs / "toolcharter", "stdio", server]
    # Those with a prefix of tool names, which the command sets.
    for command in (own, ours) if server in ("guide", "noema") else (own,):
        assert SERVERS[server] in listed_tools(command, tmp_path)


@pytest.mark.requirement("PKG-1")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["mcp-todo"], r"mcp-todo cannot start. The server 'todo' needs sqlalchemy: .+ 'toolcharter\[todo\]'"),
        (["toolcharter", "stdio", "noema"], r"The server 'noema' needs \w+: .+ 'toolcharter\[noema\]'"),
        (["toolcharter", "tools", "noema"], r"The server 'noema' needs \w+: .+ 'toolcharter\[noema\]'"),
        (
            ["toolcharter", "call", "todo", "list_tasks", "user_id=ana"],
            r"The server 'todo' needs sqlalchemy: .+ 'toolcharter",
        ),
        (
            ["toolcharter", "serve", "todo", "--port", "0"],
            r"The server 'todo' needs sqlalchemy: .+ 'toolcharter\[todo\]'",
        ),
        (["toolcharter", "govern", "list"], r"`toolcharter govern` needs \w+: .+ 'toolcharter\[govern\]'"),
        (["mcp-guide", "--redis", "redis://127.0.0.1:1"], r"Redis needs redis: .+ 'toolcharter\[redis\]'"),
        (["mcp-guide", "--audit", "sqlite:///a.db"], r"An audit trail in a database needs sqlalchemy: .+ 'toolcharter"),
    ],
)
def test_a_command_without_its_extra_says_in_one_line_what_to_install(
    plain: Path, words: list[str], says: str, tmp_path: Path
):
    done = run([plain / words[0], *words[1:]], tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
    assert re.search(says, done.stderr), done.stderr


@pytest.mark.requirement("PKG-1")
def test_a_plain_install_has_the_framework_and_the_verifier(plain: Path, tmp_path: Path):
    for words in (["--version"], ["verify", "demo"], ["examples", "demo"], ["lock", "demo", "--output", "demo.json"]):
        done = run([plain / "toolcharter", *words], tmp_path)
        assert done.returncode == 0, f"{words}: {done.stderr}"


def served(programs: Path, home: Path) -> Iterator[str]:
    """What `toolcharter serve` prints until it serves."""
    environment = {"HOME": str(home), "PATH": os.defpath}
    command = [programs / "toolcharter", "serve", "--port", "0"]
    with subprocess.Popen(command, env=environment, cwd=home, stderr=subprocess.STDOUT, stdout=subprocess.PIPE) as one:
        assert one.stdout is not None
        for line in one.stdout:
            yield line.decode()
            if "Ctrl+C" in line.decode():
                break
        one.terminate()


@pytest.mark.requirement("PKG-1")
def test_a_plain_install_serves_what_it_can_load_and_names_the_rest(plain: Path, tmp_path: Path):
    text = "".join(served(plain, tmp_path))
    assert re.search(r"Not served: The server 'todo' needs sqlalchemy, alembic: .+ 'toolcharter\[todo\]'\n", text)
    assert "Not served: The server 'noema' needs " in text
    assert "/guide/mcp" in text


@pytest.mark.requirement("PKG-1")
def test_a_server_is_served_installed_and_checked_without_a_library_that_it_can_do_without(plain: Path, tmp_path: Path):
    assert SERVERS["atl"] in listed_tools([plain / "mcp-atl"], tmp_path)
    assert "/atl/mcp" in "".join(served(plain, tmp_path))
    (tmp_path / ".cursor").mkdir()
    installed = run([plain / "toolcharter", "install", "cursor", "atl"], tmp_path)
    assert installed.returncode == 0, installed.stderr
    checked = run([plain / "toolcharter", "doctor"], tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert "toolcharter[atl]" not in checked.stdout


@pytest.mark.requirement("PKG-1")
@pytest.mark.skipif(VARIABLE not in os.environ, reason="loads all libraries from the index; run with --thorough")
def test_the_wheel_installs_from_the_index_with_all_servers(built: tuple[Path, Path], tmp_path: Path):
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "-qq", f"{built[1]}[all]"]
    done = subprocess.run(pip, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"the package index cannot be used here: {done.stderr.strip().splitlines()[-1]}")
    for server, tool in SERVERS.items():
        assert tool in listed_tools([folder / "bin" / f"mcp-{server}"], tmp_path)
