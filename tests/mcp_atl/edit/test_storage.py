"""Pages of Data Center: everything outside what was named is the same text, byte for byte."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_atl.convert.storage_tree import Malformed
from mcp_atl.edit.sections import container_at, find_place
from mcp_atl.edit.storage import StorageDocument
from tests.thorough import examples
from toolcharter import Conflict

WORDS = st.sampled_from(["plain", "a &amp; b", "caf&eacute;", "x&nbsp;y", "1 &lt; 2", "naïve", "“quoted”"])
INLINE = st.one_of(
    WORDS,
    st.builds("<strong>{}</strong>".format, WORDS),
    st.builds('<span style="color: rgb(255,0,0);">{}</span>'.format, WORDS),
    st.builds('<ac:inline-comment-marker ac:ref="c1">{}</ac:inline-comment-marker>'.format, WORDS),
    st.just('<ac:link><ri:user ri:userkey="8a7f" /></ac:link>'),
    st.just(
        '<ac:link><ri:page ri:content-title="Other" /><ac:plain-text-link-body><![CDATA[see <b>]]>'
        "</ac:plain-text-link-body></ac:link>"
    ),
    st.just(
        '<ac:structured-macro ac:name="status"><ac:parameter ac:name="title">DONE</ac:parameter></ac:structured-macro>'
    ),
    st.just("<br />"),
    st.just('<time datetime="2026-11-17" />'),
)
LINES = st.lists(INLINE, min_size=1, max_size=3).map(" ".join)
BLOCKS = st.one_of(
    st.builds("<p>{}</p>".format, LINES),
    st.builds('<p class="auto-cursor-target" style="text-align: center;">{}</p>'.format, LINES),
    st.just("<p><br /></p>"),
    st.builds("<h{0}>{1}</h{0}>".format, st.integers(1, 3), st.sampled_from(["Goals", "Plan &amp; more", "Risks"])),
    st.builds("<ul><li>{}</li><li><p>{}</p></li></ul>".format, LINES, LINES),
    st.builds("<ol><li>{}<ul><li>{}</li></ul></li></ol>".format, WORDS, WORDS),
    st.builds(
        '<table class="wrapped"><colgroup><col /></colgroup><tbody><tr><th>A</th></tr>'
        "<tr><td>{}</td></tr></tbody></table>".format,
        LINES,
    ),
    st.just('<ac:structured-macro ac:name="toc" ac:schema-version="1" ac:macro-id="7d1"/>'),
    st.just('<ac:image ac:height="250"><ri:attachment ri:filename="plan.png" /></ac:image>'),
    st.builds(
        '<ac:structured-macro ac:name="info"><ac:rich-text-body><p>{}</p></ac:rich-text-body>'
        "</ac:structured-macro>".format,
        LINES,
    ),
    st.just(
        '<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">py</ac:parameter>'
        "<ac:plain-text-body><![CDATA[if a < b:\n    pass]]></ac:plain-text-body></ac:structured-macro>"
    ),
    st.builds(
        '<ac:layout><ac:layout-section ac:type="two_equal"><ac:layout-cell><h2>Left</h2><p>{}</p></ac:layout-cell>'
        "<ac:layout-cell><p>{}</p></ac:layout-cell></ac:layout-section></ac:layout>".format,
        LINES,
        LINES,
    ),
    st.just(
        "<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>incomplete</ac:task-status>"
        "<ac:task-body>do it</ac:task-body></ac:task></ac:task-list>"
    ),
)
PAGES = st.lists(BLOCKS, min_size=1, max_size=7).flatmap(
    lambda blocks: st.sampled_from(["", "\n", "\n  "]).map(lambda gap: gap.join(blocks))
)


@pytest.mark.requirement("ATL-7")
@given(source=PAGES, data=st.data())
@settings(max_examples=examples(1000))
def test_a_change_of_a_section_leaves_every_byte_outside_it(source: str, data: st.DataObject):
    page = StorageDocument(source)
    numbers = [one.number for one in page.outline()]
    if numbers:
        number = data.draw(st.sampled_from(numbers))
        edit = page.replace_section(number, "A *new* text.", remove_objects=True)
        place = find_place(page._places, number)
        start, end = page._range(container_at(page._body, place.path), place)
        assert edit.body.startswith(source[:start])
        assert edit.body.endswith(source[end:])
        assert re.search(r"<p[^>]*>A <em>new</em> text\.</p>", edit.body[start : len(edit.body) - len(source) + end])
    assert page.append("The end.").body == source + "<p>The end.</p>"
    assert page.prepend("The start.").body == "<p>The start.</p>" + source


@given(source=PAGES)
@settings(max_examples=examples(500))
def test_a_page_that_is_written_back_as_it_was_read_is_the_same_text(source: str):
    page = StorageDocument(source)
    assert page.replace_all(page.markdown()).body == source
    for heading in page.outline():
        assert page.replace_section(heading.number, page.section(heading.number).markdown).body == source


PAGE = (
    '<p class="lead">Ship on <ac:structured-macro ac:name="status"><ac:parameter ac:name="title">MONDAY</ac:parameter>'
    "</ac:structured-macro> if <strong>all</strong> tests pass.</p>"
    "<ac:task-list><ac:task><ac:task-id>9</ac:task-id><ac:task-status>incomplete</ac:task-status><ac:task-body>call Ana"
    "</ac:task-body></ac:task></ac:task-list>"
)


def test_exact_text_is_replaced_and_the_rest_of_the_paragraph_stays():
    edit = StorageDocument(PAGE).replace_text("tests pass", "tests are green")
    assert edit.body == PAGE.replace("tests pass", "tests are green")


def test_text_in_a_task_is_replaced():
    edit = StorageDocument(PAGE).replace_text("call Ana", "call Ben")
    assert "<ac:task-body>call Ben</ac:task-body>" in edit.body
    assert edit.body.startswith(PAGE.partition("<ac:task-list>")[0])


def test_an_object_goes_only_if_that_is_said():
    with pytest.raises(Conflict, match=r"no place for \{\{object status#\w+\}\}"):
        StorageDocument(PAGE).replace_all("Nothing left.")


@pytest.mark.parametrize("source", ["<p>a", "<p>a</b></p>", "</p>", "<p>" * 300 + "</p>" * 300])
def test_a_text_that_is_not_well_formed_is_an_error_that_says_so(source: str):
    with pytest.raises(Malformed, match=r"not well-formed|nested more than"):
        StorageDocument(source)
