"""Markdown to the Atlassian Document Format and back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_atl.convert.markdown_reader import MarkdownReader
from mcp_atl.convert.markdown_writer import MarkdownWriter
from mcp_atl.convert.nodes import Node, children
from mcp_atl.convert.placeholders import Originals
from tests.mcp_atl.convert.adf_schema import adf_validator
from tests.mcp_atl.convert.markdown_texts import EACH_KIND, MARKDOWN, SAMPLES, SOUP
from tests.mcp_atl.convert.meaning import meaning
from tests.mcp_atl.documents import DOCUMENTS
from tests.thorough import examples


def read(markdown: str, originals: Originals | None = None) -> Node:
    return MarkdownReader(originals, make_id=lambda: "id").document(markdown)


def write(document: Node, originals: Originals | None = None) -> str:
    return MarkdownWriter(originals).blocks(children(document))


@pytest.mark.requirement("ATL-7")
def test_each_kind_of_content_has_its_node():
    def paragraph(*nodes: Node) -> Node:
        return {"type": "paragraph", "content": list(nodes)}

    def node(kind: str, *content: Node, **attrs: str) -> Node:
        return {"type": kind, **({"attrs": attrs} if attrs else {}), "content": list(content)}

    def words(value: str, *marks: Node) -> Node:
        return {"type": "text", "text": value, **({"marks": list(marks)} if marks else {})}

    link = {"type": "link", "attrs": {"href": "https://x.org/p?q=1"}}
    mention = {"type": "mention", "attrs": {"id": "ana", "text": "@ana"}}
    document = read(EACH_KIND)
    assert children(document) == [
        node(
            "table",
            node("tableRow", *(node("tableHeader", paragraph(words(one))) for one in "AB")),
            node(
                "tableRow",
                node("tableCell", paragraph(words("a"))),
                node("tableCell", paragraph(words("b", {"type": "code"}))),
            ),
        ),
        node("codeBlock", words("x = 1"), language="py"),
        node(
            "bulletList",
            node("listItem", paragraph(words("one")), node("orderedList", node("listItem", paragraph(words("two"))))),
        ),
        node(
            "panel",
            paragraph(words("Ask "), mention, words(" or see "), words("the page", link), words(".")),
            panelType="warning",
        ),
    ]
    assert write(document) == EACH_KIND


@pytest.mark.parametrize("markdown", SAMPLES.values(), ids=SAMPLES.keys())
def test_what_agents_write_becomes_a_valid_document(markdown: str):
    adf_validator()(read(markdown))


@pytest.mark.parametrize("markdown", SAMPLES.values(), ids=SAMPLES.keys())
def test_what_agents_write_keeps_its_meaning(markdown: str):
    check_meaning(markdown)


@pytest.mark.parametrize(
    ("markdown", "written"),
    [
        ("- a\n\n  ---\n\n- b", "- a\n\n  \\---\n\n- b"),
        ("> a\n>\n> ---\n>\n> b", "> a\n>\n> \\---\n>\n> b"),
        ("- [ ] a\n\n  ---\n\n  ![b](https://x.org/b.png)", "- [ ] a\\\n  ---\\\n  [b](https://x.org/b.png)"),
        ("- [ ] a\n  - b\n  - c\n\n  ```\n  d = 1\n\n  e\n  ```", "- [ ] a\\\n  b\\\n  c\\\n  `d = 1`\\\n  `e`"),
        ("> | A | B |\n> | --- | --- |\n> | @[C](accountid:c) | [d](https://x.org) |",
         "> A | B\n>\n> @[C](accountid:c) | [d](https://x.org)"),
    ],
    ids=["a rule in a list", "a rule in a quote", "a rule in a task", "blocks in a task", "a table in a quote"],
)  # fmt: skip
def test_what_may_not_stand_in_a_block_is_kept_as_words(markdown: str, written: str):
    assert write(read(markdown)) == written


@given(markdown=st.one_of(MARKDOWN, SOUP))
@settings(max_examples=examples(1000))
def test_any_markdown_becomes_a_valid_document(markdown: str):
    adf_validator()(read(markdown))


@given(markdown=MARKDOWN)
@settings(max_examples=examples(2000))
def test_markdown_keeps_its_meaning(markdown: str):
    check_meaning(markdown)


@given(markdown=SOUP)
@settings(max_examples=examples(2000))
def test_even_broken_markdown_keeps_its_meaning(markdown: str):
    check_meaning(markdown)


def check_meaning(markdown: str) -> None:
    """What was written and read again says the same, and is then written in the same way."""
    document, originals = read(markdown), Originals()
    written = write(document, originals)
    again = read(written, originals)
    assert meaning(again) == meaning(document), written
    assert write(again, originals) == written


@given(document=DOCUMENTS)
@settings(max_examples=examples(500))
def test_a_document_reads_the_same_after_it_was_written_and_read(document: Node):
    originals = Originals()
    markdown = write(document, originals)
    again = read(markdown, originals)
    adf_validator()(again)
    assert write(again, originals) == markdown
