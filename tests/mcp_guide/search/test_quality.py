"""Whether a search finds the right document, on the pages of this project and queries that it was not tuned on."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_guide.content.tree import DocumentTree
from mcp_guide.search.index import SearchIndex

ROOT = Path(__file__).parents[3]
QUERIES = ROOT / "tests" / "data" / "guide_search"


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchIndex]:
    """The pages, without those that repeat the definitions of the tools."""
    root = tmp_path_factory.mktemp("pages")
    for page in (*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "adr").glob("*.md")):
        copy = root / page.relative_to(ROOT / "docs")
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(page.read_bytes())
    index = SearchIndex(DocumentTree(root))
    index.refresh()
    yield index
    index.close()


@pytest.mark.parametrize(("name", "first", "in_three"), [("heldout", 27, 37), ("tuning", 38, 46)])
def test_the_right_document_is_found(search: SearchIndex, name: str, first: int, in_three: int):
    """A few less than measured, because the pages change."""
    found = [0, 0]
    for line in (QUERIES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        wanted = json.loads(line)
        hits = [hit.path in wanted["documents"] for hit in search.find(wanted["query"], None, 3).hits]
        found[0] += hits[:1] == [True]
        found[1] += any(hits)
    assert found[0] >= first
    assert found[1] >= in_three
