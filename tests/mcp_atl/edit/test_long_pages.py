"""A page of 300 KB: an outline, one section read and changed, in little time."""

import time

import pytest

from mcp_atl.convert.markdown_reader import MarkdownReader
from mcp_atl.convert.storage_writer import document_to_storage
from mcp_atl.edit.adf import AdfDocument
from mcp_atl.edit.storage import StorageDocument

MAX_SECONDS = 5
"""Of CPU, on a busy machine; it takes less than one."""


def long_markdown() -> str:
    parts: list[str] = []
    for chapter in range(50):
        parts.append(f"# Chapter {chapter}")
        parts += [f"Some **words** of {chapter}, `code` and [a link](https://x.org/{n})." * 4 for n in range(26)]
        parts += ["- a\n- b", "| A | B |\n| --- | --- |\n| 1 | 2 |"]
    return "\n\n".join(parts)


@pytest.mark.parametrize("kind", ["cloud", "datacenter"])
def test_a_section_of_a_page_of_300_kb_is_read_and_changed_in_time(kind: str):
    markdown = long_markdown()
    assert len(markdown) > 300_000
    document = MarkdownReader().document(markdown)
    body = document if kind == "cloud" else document_to_storage(document)
    start = time.process_time()
    page = AdfDocument(body) if kind == "cloud" else StorageDocument(body)
    outline, section = page.outline(), page.section("7").markdown
    edit = page.replace_section("7", section.replace("a link", "the link", 1))
    assert time.process_time() - start < MAX_SECONDS
    assert edit.summary == "section 7 'Chapter 6': 27 kept, 1 changed"
    assert outline[6].size == len(section)
