"""Texts that nobody writes by accident: they take little time, and break nothing."""

import re
import time

import pytest

from mcp_atl.convert.markdown_reader import MarkdownReader
from mcp_atl.convert.markdown_writer import MarkdownWriter
from mcp_atl.convert.nodes import block, children, plain_text, text
from mcp_atl.convert.storage_reader import storage_to_document
from mcp_atl.convert.storage_tree import Malformed
from mcp_atl.convert.wiki_reader import wiki_to_document

LENGTH = 50_000
MAX_SECONDS = 4
"""Of CPU, on a busy machine. On a quiet one, each takes 0.1 to 0.7 seconds; with the square of the length, 6 to 60."""
SIGNS = [*"*_~[](<{|`!\\:&#->a \n", "{{", "> ", "- ", "*a ", "[a](", "![", "<u>", "<details>\n\n", "http://", "@["]
WIKI_SIGNS = ["[~", "[a|", "!a.b|", "{quote}", "{code}\n", "{panel:x}\n", "{*}", "*a ", "|a|\n", "{{", "&#"]
TEXTS = {
    "nested emphasis": "*a " * 16_000 + "a* " * 16_000,
    "emphasis of two kinds": "*a _b " * 8000 + "a* b_ " * 8000,
    "brackets": "[" * 25_000 + "]" * 25_000,
    "images in images": "![" * 10_000 + "](b)" * 7000,
    "rows without cells": f"|{'a|' * 2000}\n|{'-|' * 2000}\n" + "|b\n" * 14_000,
    "a wide table": f"|{'a|' * 8000}\n|{'-|' * 8000}\n" + "|b" * 4000,
    "small tables": "a|b\n-|-\n" * 3000,
    "a long table": "|a|b|\n|-|-|\n" + "|c|d|\n" * 8000,
    "quotes in quotes": "> " * 200 + "a\n" + "a\n" * 24_000,
    "lists in lists": "".join(f"{'  ' * depth}- a\n" for depth in range(220)),
    "items": "- a\n" * 8000,
    "breaks": "a\\\n" * 40_000,
    "code": "`a` " * 12_500,
    "definitions": "".join(f"[a{number}]: b\n" for number in range(4500)),
}
STORAGE_SIGNS = ["<", "<!--", "<![CDATA[", "<p>", '<p a="', "</p>", "<a '", "&"]


def seconds(start: float) -> float:
    return time.process_time() - start


@pytest.mark.parametrize("sign", SIGNS)
def test_a_long_run_of_signs_is_read_and_written_in_time(sign: str):
    start = time.process_time()
    words = sign * (LENGTH // len(sign))
    MarkdownWriter().blocks(children(MarkdownReader().document(words)))
    MarkdownWriter().blocks([block("paragraph", [text(words)])])
    assert seconds(start) < MAX_SECONDS


@pytest.mark.parametrize("name", TEXTS)
def test_a_long_text_of_one_kind_is_read_and_written_in_time(name: str):
    start = time.process_time()
    MarkdownWriter().blocks(children(MarkdownReader().document(TEXTS[name])))
    assert seconds(start) < MAX_SECONDS


@pytest.mark.parametrize(
    "markdown",
    [
        "\n".join(f"{'  ' * depth}- word{depth}" for depth in range(60)),
        "\n".join(f"{'>' * depth} word{depth}" for depth in range(1, 60)),
        "> " * 60 + "word1\nword2\n\nword3",
        "- " * 60 + "word1\nword2\n\nword3",
        f"|{'word|' * 200}\n|{'-|' * 200}\n" + "".join(f"|word{row}\n" for row in range(200)),
        "[" * 60 + "word1](word2) word3",
    ],
    ids=["lists", "quotes", "quotes in one line", "lists in one line", "a ragged table", "brackets"],
)
def test_words_that_are_nested_too_deep_are_kept(markdown: str):
    words = re.findall(r"word\d*", plain_text(MarkdownReader().document(markdown)))
    wanted = re.findall(r"word\d*", markdown)
    assert [one for one in words if one != "word2"] == [one for one in wanted if one != "word2"]


@pytest.mark.parametrize("sign", [*SIGNS, *WIKI_SIGNS])
def test_a_long_run_of_signs_of_wiki_markup_is_read_in_time(sign: str):
    start = time.process_time()
    wiki_to_document(sign * (LENGTH // len(sign)))
    assert seconds(start) < MAX_SECONDS


@pytest.mark.parametrize("sign", STORAGE_SIGNS)
def test_storage_format_that_is_not_well_formed_is_refused_in_time(sign: str):
    start = time.process_time()
    source = sign * (LENGTH // len(sign))
    if sign == "&":
        storage_to_document(source)
    else:
        with pytest.raises(Malformed):
            storage_to_document(source)
    assert seconds(start) < MAX_SECONDS
