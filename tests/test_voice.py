"""Docstrings are noun phrases or imperatives. A clause, such as "What a tool does", is not."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CLAUSES = ("What ", "Where ", "Whether it ", "How it ")
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def clauses_in(source: str) -> list[str]:
    """The docstrings that begin with a clause."""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED))
    docstrings = (ast.get_docstring(node) or "" for node in nodes)
    return [text.splitlines()[0] for text in docstrings if text.startswith(CLAUSES)]


def test_no_docstring_begins_with_a_clause():
    sources = sorted((ROOT / "src").rglob("*.py"))
    assert len(sources) > 500
    found = {str(path.relative_to(ROOT)): clauses_in(path.read_text(encoding="utf-8")) for path in sources}
    assert {path: texts for path, texts in found.items() if texts} == {}


@pytest.mark.parametrize("source", ['"""What is stored of a token."""', 'def f():\n    """Where it is kept."""'])
def test_a_clause_is_found(source: str):
    assert len(clauses_in(source)) == 1


def test_a_noun_phrase_is_not_a_clause():
    assert clauses_in('"""A token as stored: hash, owner, grants, expiry."""') == []
