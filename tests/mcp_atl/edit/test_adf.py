"""An edit changes what was named, and nothing else."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_atl.convert.nodes import children, plain_text
from mcp_atl.edit.adf import AdfDocument
from mcp_atl.edit.sections import container_at, places
from tests.mcp_atl.documents import DOCUMENTS, Node
from tests.thorough import examples
from toolcharter import Conflict, InvalidArguments, NotFound


def nodes_outside(document: Node, path: tuple[int, ...], start: int, end: int) -> list[Any]:
    """Everything that is not at the place, in order, as plain values."""
    outside: list[Any] = []

    def walk(node: Node, here: tuple[int, ...]) -> None:
        outside.append({key: value for key, value in node.items() if key != "content"})
        for index, one in enumerate(children(node)):
            if here == path and start <= index < end:
                continue
            if here == path[: len(here)] and len(here) < len(path) and path[len(here)] == index:
                walk(one, (*here, index))
            else:
                outside.append(one)

    walk(document, ())
    return outside


@pytest.mark.requirement("ATL-7")
@given(document=DOCUMENTS, data=st.data())
@settings(max_examples=examples(1000))
def test_a_change_of_a_section_touches_no_node_outside_it(document: Node, data: st.DataObject):
    before = copy.deepcopy(document)
    known = places(document)
    page = AdfDocument(document)
    if known:
        place = data.draw(st.sampled_from(known))
        edit = page.replace_section(place.number, "A *new* text.\n\n- one", remove_objects=True)
        length = len(children(container_at(document, place.path)))
        grown = len(children(container_at(edit.body, place.path))) - length
        kept = nodes_outside(document, place.path, place.start, place.end)
        assert nodes_outside(edit.body, place.path, place.start, place.end + grown) == kept
    edit = page.append("The *end*.")
    assert children(edit.body)[: len(children(document))] == children(document)
    edit = page.prepend("The *start*.")
    assert children(edit.body)[-len(children(document)) :] == children(document)
    assert document == before


@given(document=DOCUMENTS)
@settings(max_examples=examples(500))
def test_a_section_that_is_written_back_as_it_was_read_changes_nothing(document: Node):
    page = AdfDocument(document)
    for place in places(document):
        markdown = page.section(place.number).markdown
        edit = page.replace_section(place.number, markdown)
        assert edit.body == document
        assert "changed" not in edit.summary.removesuffix("nothing changed")


@given(document=DOCUMENTS)
@settings(max_examples=examples(500))
def test_a_whole_page_that_is_written_back_as_it_was_read_changes_nothing(document: Node):
    page = AdfDocument(document)
    assert page.replace_all(page.markdown()).body == document


PAGE: Node = {
    "type": "doc",
    "version": 1,
    "content": [
        {"type": "heading", "attrs": {"level": 1}, "content": [{"type": "text", "text": "Plan"}]},
        {
            "type": "paragraph",
            "attrs": {"localId": "p1"},
            "content": [
                {"type": "text", "text": "We ship on "},
                {"type": "status", "attrs": {"text": "MONDAY", "color": "blue", "localId": "s1"}},
                {"type": "text", "text": " if "},
                {"type": "text", "text": "all tests", "marks": [{"type": "strong"}]},
                {"type": "text", "text": " pass."},
            ],
        },
        {"type": "paragraph", "content": []},
        {"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Risks"}]},
        {"type": "paragraph", "content": [{"type": "text", "text": "Few."}]},
        {"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Risks"}]},
        {"type": "paragraph", "content": [{"type": "text", "text": "Many."}]},
    ],
}


def test_the_outline_numbers_the_sections():
    outline = [(one.number, one.level, one.title) for one in AdfDocument(PAGE).outline()]
    assert outline == [("1", 1, "Plan"), ("1.1", 2, "Risks"), ("1.2", 2, "Risks")]


def test_a_paragraph_keeps_its_id_and_its_objects_when_its_words_change():
    page = AdfDocument(PAGE)
    markdown = page.section("1").markdown.replace("all tests", "most tests")
    changed = page.replace_section("1", markdown)
    paragraph = changed.body["content"][1]
    assert paragraph["attrs"] == {"localId": "p1"}
    assert paragraph["content"][1] == PAGE["content"][1]["content"][1]
    assert plain_text(paragraph) == "We ship on  if most tests pass."
    assert changed.body["content"][2:] == PAGE["content"][2:]
    assert changed.summary == "section 1 'Plan': 4 kept, 1 changed"


def test_an_object_goes_only_if_that_is_said():
    page = AdfDocument(PAGE)
    with pytest.raises(Conflict, match=r"no place for \{\{status MONDAY#\w+\}\}. Nothing was written"):
        page.replace_section("1", "Nothing left.")
    assert "status" not in str(page.replace_section("1", "Nothing left.", remove_objects=True).body)


def test_two_sections_of_one_name_are_told_apart_by_number():
    page = AdfDocument(PAGE)
    with pytest.raises(InvalidArguments, match=r"2 sections are called 'Risks': 1\.1, 1\.2"):
        page.section("Risks")
    assert page.section("1.2").markdown == "## Risks\n\nMany."


def test_a_section_that_does_not_exist_is_answered_with_those_that_do():
    with pytest.raises(NotFound, match=r"no section 'Costs'\. It has: 1 'Plan', 1\.1 'Risks', 1\.2 'Risks'"):
        AdfDocument(PAGE).section("Costs")


def test_exact_text_is_replaced_across_marks():
    edit = AdfDocument(PAGE).replace_text("if all tests pass", "when **ready**")
    assert edit.body["content"][1]["content"][2:] == [
        {"type": "text", "text": " "},
        {"type": "text", "text": "when "},
        {"type": "text", "text": "ready", "marks": [{"type": "strong"}]},
        {"type": "text", "text": "."},
    ]
    assert [one for n, one in enumerate(edit.body["content"]) if n != 1] == [
        one for n, one in enumerate(PAGE["content"]) if n != 1
    ]


@pytest.mark.parametrize(("text", "words"), [("Risks", "occurs 2 times"), ("unknown", "does not have the text")])
def test_text_that_is_not_there_once_is_refused(text: str, words: str):
    with pytest.raises((InvalidArguments, NotFound), match=words):
        AdfDocument(PAGE).replace_text(text, "x")


def test_a_placeholder_of_another_page_is_refused():
    with pytest.raises(InvalidArguments, match="stands for nothing in this text"):
        AdfDocument(PAGE).append("{{status DONE#aaaaaa}}")
