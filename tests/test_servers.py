"""A server is one folder, an entry point, its tests and its page: nothing that all servers share names one."""

import re
import tomllib
from pathlib import Path

import pytest

from toolcharter.local import targets

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SERVERS = {name: value.partition(".")[0] for name, value in PROJECT["project"]["entry-points"][targets.SERVERS].items()}
SHARED = ["Makefile", "setup.py", "docs/generate.py", "tests/conftest.py", ".ci/run"]


@pytest.mark.parametrize("file", SHARED)
def test_what_all_servers_share_names_none_of_them(file: str):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert [name for name, package in SERVERS.items() if re.search(rf"\b({name}|{package}|mcp-{name})\b", text)] == []


@pytest.mark.parametrize(("name", "package"), SERVERS.items())
def test_a_server_has_its_folder_its_tests_its_lock_and_its_page(name: str, package: str):
    places = [f"src/{package}/app.py", f"tests/{package}", f"contracts/mcp-{name}.json", f"docs/{name}.md"]
    assert [place for place in places if not (ROOT / place).exists()] == []
    assert PROJECT["project"]["scripts"][f"mcp-{name}"] == f"{package}.main:main"


@pytest.mark.parametrize("package", SERVERS.values())
def test_a_server_has_its_place_in_the_import_contracts(package: str):
    contracts = {contract["id"]: contract for contract in PROJECT["tool"]["importlinter"]["contracts"]}
    assert package in PROJECT["tool"]["importlinter"]["root_packages"]
    assert package in contracts["packages"]["layers"][0].split(" | ")
    assert package in contracts["mcp-libraries"]["source_modules"]
