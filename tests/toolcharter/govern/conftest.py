"""Servers that offer everything behind one governor, for all tests that need them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.toolcharter.govern.governed import governor_over_http, offering, tables

POLICIES = """
[prompts."*:secret"]
deny = true
[resources."*://secret/*"]
deny = true
[resources."*://a/private/*"]
deny = true
[tools."*:wait"]
deadline = 60
"""


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The charter of four servers that offer everything, and the address of their governor."""
    path = tmp_path_factory.mktemp("offers") / "charter.toml"
    with offering("http", "web") as url:
        path.write_text(tables(url) + POLICIES, encoding="utf-8")
        with governor_over_http(path) as address:
            yield path, address
