"""Sections of Markdown texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core.errors import NotFound
from mcp_guide.content.documents import make_document
from mcp_guide.content.sections import cut_sections, find_sections, get_section, outline

TEXT = """\
Before.

# Style

One.

## Naming `x`

Two.

```sh
# not a heading
```

### Deep {#deep-down}

Three.

## Naming x

Four.

Under
=====

Five.
"""


def document(text: str = TEXT):
    return make_document("lang/a.md", text.encode(), 0.0)


def test_each_heading_outside_code_begins_a_section():
    found = find_sections(TEXT)
    assert [(one.id, one.level, one.parents) for one in found] == [
        ("", 0, ()),
        ("style", 1, ()),
        ("naming-x", 2, ("Style",)),
        ("deep-down", 3, ("Style", "Naming `x`")),
        ("naming-x-1", 2, ("Style",)),
        ("under", 1, ()),
    ]
    assert "Three." in TEXT[found[2].start : found[2].end]
    assert "Three." not in TEXT[found[2].start : found[2].own_end]


@pytest.mark.parametrize("name", ["naming-x", "#naming-x", "Naming `x`", "NAMING"])
def test_a_section_is_found_by_its_id_or_its_heading(name):
    assert get_section(document(), name).id == "naming-x"


def test_an_unknown_section_is_an_error_that_names_the_nearest():
    with pytest.raises(NotFound, match=r"no section 'namign'. Did you mean '#naming-x'"):
        get_section(document(), "namign")
    with pytest.raises(NotFound, match="It has no headings"):
        get_section(document("Text\n"), "naming")


def test_sections_are_cut_out_in_the_order_of_the_request():
    cut = cut_sections(document(), ["under", "deep-down"])
    assert (cut.path, cut.text) == (
        "lang/a.md#under#deep-down",
        "Under\n=====\n\nFive.\n\n### Deep {#deep-down}\n\nThree.\n",
    )


def test_an_outline_has_the_ids_and_the_titles_that_differ():
    lines = [line.rpartition(" (")[0] for line in outline(document())]
    assert lines == [
        "#style",
        "  #naming-x Naming `x`",
        "    #deep-down Deep",
        "  #naming-x-1 Naming x",
        "#under",
    ]


@given(
    st.lists(st.sampled_from(["# A", "## B", "### C", "text", "", "```", "===", "---", "#", "    # code"]), max_size=25)
)
def test_the_sections_of_any_text_are_all_of_it(lines):
    text = "\n".join(lines)
    found = find_sections(text)
    assert "".join(text[one.start : one.own_end] for one in found).strip() == text.strip()
    assert all(one.start < one.body <= one.own_end <= one.end or not one.level for one in found)
    assert len({one.id for one in found}) == len(found)
