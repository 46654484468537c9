"""Programs that others wrote, for tests: a test is skipped where they cannot be installed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.packages import NotInstalled, is_cached, npm_folder, pypi_folder
from tests.thorough import VARIABLE


def npm_packages(*packages: str) -> Path:
    """The folder `node_modules` with these packages. Skips the test where they cannot be installed."""
    return _or_skip(npm_folder, packages)


def npm_packages_if_cached(*packages: str) -> Path:
    """The same, but only with `--thorough` is something installed. On other days it is used if it is there."""
    if VARIABLE not in os.environ and not is_cached(*packages):
        pytest.skip(f"{packages[0]} is not in the cache; --thorough installs it")
    return npm_packages(*packages)


def pypi_programs(*packages: str) -> Path:
    """The folder with the programs of these packages. Skips the test where they cannot be installed."""
    return _or_skip(pypi_folder, packages)


def _or_skip(folder: Callable[..., Path], packages: tuple[str, ...]) -> Path:
    try:
        return folder(*packages)
    except NotInstalled as problem:
        pytest.skip(f"{packages[0]} cannot be installed: {problem}")
