"""Docstrings are noun phrases or imperatives, and no thing hears, tells or is told."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CLAUSE = re.compile(r'^ *r?"""(?:What|Where|How it) .*$|(?<=:\n) *r?"""Whether it .*$', re.MULTILINE)
"""Docstrings, and texts below attributes such as this. That of an attribute may begin with "Whether it"."""
TOLD = re.compile(r'^ *(?:#|r?""").*\b(?:[Hh]ears?|heard|[Tt]ells?|told)\b.*$', re.MULTILINE)
"""In the first line of a docstring or in a comment."""
ALLOWED = {'"""Do not tell the user."""'}
"""A text that the verifier looks for."""


def clauses_in(source: str) -> list[str]:
    """The docstrings that begin with a clause, such as "What a tool does"."""
    return [line.strip() for line in CLAUSE.findall(source)]


def telling_in(source: str) -> list[str]:
    """The lines in which something hears, tells or is told."""
    return [line.strip() for line in TOLD.findall(source) if line.strip() not in ALLOWED]


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    found = sorted((ROOT / "src").rglob("*.py"))
    assert len(found) > 500
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in found}


def test_no_docstring_begins_with_a_clause(sources: dict[str, str]):
    found = {path: clauses_in(source) for path, source in sources.items()}
    assert {path: texts for path, texts in found.items() if texts} == {}


def test_nothing_hears_tells_or_is_told(sources: dict[str, str]):
    found = {path: telling_in(source) for path, source in sources.items()}
    assert {path: texts for path, texts in found.items() if texts} == {}


@pytest.mark.parametrize(
    "source",
    [
        '"""What is stored of a token."""',
        'def f():\n    """Where it is kept."""',
        'def f() -> bool:\n    """Whether it is kept."""',
        'x = 1\n"""What is kept."""',
    ],
)
def test_a_clause_is_found(source: str):
    assert len(clauses_in(source)) == 1


@pytest.mark.parametrize("source", ["# The client is told.", 'def f():\n    """Hear of it."""', '"""Tells clients."""'])
def test_a_line_that_tells_is_found(source: str):
    assert len(telling_in(source)) == 1


@pytest.mark.parametrize(
    "source", ['"""A token as stored: hash, owner, grants, expiry."""', 'x = True\n"""Whether it is kept."""']
)
def test_a_noun_phrase_is_neither(source: str):
    assert clauses_in(source) == telling_in(source) == []
