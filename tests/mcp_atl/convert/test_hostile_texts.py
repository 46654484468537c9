"""Texts that nobody writes by accident: they take little time, and break nothing."""

import time

import pytest

from mcp_atl.convert.markdown_reader import MarkdownReader
from mcp_atl.convert.markdown_writer import MarkdownWriter
from mcp_atl.convert.nodes import block, children, text
from mcp_atl.convert.storage_reader import storage_to_document
from mcp_atl.convert.storage_tree import Malformed
from mcp_atl.convert.wiki_reader import wiki_to_document

LENGTH = 50_000
MOST_SECONDS = 5
"""Of CPU. Each takes well below a second; what grows with the square of the length takes a minute."""
SIGNS = [*"*_~[](<{|`!\\:&#->a \n", "{{", "> ", "- ", "*a ", "[a](", "![", "<u>", "<details>\n\n", "http://", "@["]
WIKI_SIGNS = ["[~", "[a|", "!a.b|", "{quote}", "{code}\n", "{panel:x}\n", "{*}", "*a ", "|a|\n", "{{", "&#"]
STORAGE_SIGNS = ["<", "<!--", "<![CDATA[", "<p>", '<p a="', "</p>", "<a '", "&"]


def seconds(start: float) -> float:
    return time.process_time() - start


@pytest.mark.parametrize("sign", SIGNS)
def test_a_long_run_of_signs_is_read_and_written_in_time(sign: str):
    start = time.process_time()
    words = sign * (LENGTH // len(sign))
    MarkdownWriter().blocks(children(MarkdownReader().document(words)))
    MarkdownWriter().blocks([block("paragraph", [text(words)])])
    assert seconds(start) < MOST_SECONDS


@pytest.mark.parametrize("sign", [*SIGNS, *WIKI_SIGNS])
def test_a_long_run_of_signs_of_wiki_markup_is_read_in_time(sign: str):
    start = time.process_time()
    wiki_to_document(sign * (LENGTH // len(sign)))
    assert seconds(start) < MOST_SECONDS


@pytest.mark.parametrize("sign", STORAGE_SIGNS)
def test_storage_format_that_is_not_well_formed_is_refused_in_time(sign: str):
    start = time.process_time()
    source = sign * (LENGTH // len(sign))
    if sign == "&":
        storage_to_document(source)
    else:
        with pytest.raises(Malformed):
            storage_to_document(source)
    assert seconds(start) < MOST_SECONDS
