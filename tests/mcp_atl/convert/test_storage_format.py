"""Markdown to storage format, which Data Center Confluence has, and back."""

import pytest
from hypothesis import given, settings

from mcp_atl.convert.markdown_reader import MarkdownReader
from mcp_atl.convert.markdown_writer import MarkdownWriter
from mcp_atl.convert.nodes import children
from mcp_atl.convert.placeholders import Originals
from mcp_atl.convert.storage_reader import storage_to_document
from mcp_atl.convert.storage_tree import parse
from mcp_atl.convert.storage_writer import document_to_storage
from tests.mcp_atl.convert.markdown_texts import EACH_KIND, MARKDOWN, SAMPLES
from tests.thorough import examples


def through_storage(markdown: str) -> str:
    stored = document_to_storage(MarkdownReader().document(markdown))
    parse(stored)
    return MarkdownWriter(Originals()).blocks(children(storage_to_document(stored)))


@pytest.mark.requirement("ATL-7")
@pytest.mark.parametrize(
    "markdown",
    [
        "# Title\n\nText with *em*, **strong**, ~~strike~~, <u>under</u>, H<sub>2</sub>O, `a|b` and [x](https://x.org).",
        "- a\n  1. b\n     - c\n- d",
        "5. five\n6. six",
        "1. a\n\n   second paragraph\n\n2. b",
        "- [ ] a\n- [x] b `c`\n  - [ ] below\n- [ ] d",
        "1. a\n   - [ ] b",
        "> quote\n>\n> - in it",
        "> [!NOTE]\n> a\n\n> [!TIP]\n> b\n\n> [!IMPORTANT]\n> c\n\n> [!WARNING]\n> d",
        "<details><summary>More</summary>\n\na\n\n</details>",
        "| A | B |\n| --- | --- |\n| `x\\|y` |  |\n| e<br>f | **g** |",
        "```py\nif a < b and c ]]> d:\n\n    pass\n```",
        "![alt](<https://x.org/i.png>)",
        "a :smile: b :thumbsup:",
        "@[ana](accountid:ana) knows",
        "---",
        "Map<K, V> \\&amp; \\*x\\* a\\\nb",
    ],
)
def test_markdown_comes_back_from_storage_format(markdown: str):
    assert through_storage(markdown) == markdown


@pytest.mark.parametrize("markdown", SAMPLES.values(), ids=SAMPLES.keys())
def test_what_was_read_once_stays_the_same(markdown: str):
    once = through_storage(markdown)
    assert through_storage(once) == once


@pytest.mark.requirement("ATL-7")
def test_each_kind_of_content_is_written_in_storage_format():
    assert document_to_storage(MarkdownReader().document(EACH_KIND)) == (
        "<table><tbody><tr><th><p>A</p></th><th><p>B</p></th></tr>"
        "<tr><td><p>a</p></td><td><p><code>b</code></p></td></tr></tbody></table>"
        '<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">py</ac:parameter>'
        "<ac:plain-text-body><![CDATA[x = 1]]></ac:plain-text-body></ac:structured-macro>"
        "<ul><li>one<ol><li>two</li></ol></li></ul>"
        '<ac:structured-macro ac:name="warning"><ac:rich-text-body>'
        '<p>Ask <ac:link><ri:user ri:username="ana" /></ac:link> or see <a href="https://x.org/p?q=1">the page</a>.</p>'
        "</ac:rich-text-body></ac:structured-macro>"
    )
    assert through_storage(EACH_KIND) == EACH_KIND


@given(markdown=MARKDOWN)
@settings(max_examples=examples(1000))
def test_any_markdown_stays_the_same_after_it_was_read_once(markdown: str):
    once = through_storage(markdown)
    assert through_storage(once) == once


def test_tasks_below_a_task_stand_in_its_body():
    stored = document_to_storage(MarkdownReader().document("- [ ] a\n  - [x] b"))
    assert stored == (
        "<ac:task-list><ac:task><ac:task-status>incomplete</ac:task-status><ac:task-body>a"
        "<ac:task-list><ac:task><ac:task-status>complete</ac:task-status><ac:task-body>b</ac:task-body></ac:task>"
        "</ac:task-list></ac:task-body></ac:task></ac:task-list>"
    )


def test_the_element_that_an_editor_puts_around_a_task_is_not_shown():
    source = (
        "<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status><ac:task-body>"
        '<span class="placeholder-inline-tasks">call Ana</span></ac:task-body></ac:task></ac:task-list>'
    )
    assert MarkdownWriter().blocks(children(storage_to_document(source))) == "- [x] call Ana"
