"""Random documents as Cloud has them: with macros, layouts, mentions, comments and all that Markdown cannot say."""

from typing import Any

from hypothesis import strategies as st

Node = dict[str, Any]

WORDS = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"), exclude_characters="\u00a0\ufffc"),
    min_size=1,
    max_size=20,
).filter(lambda words: words == " ".join(words.split()) and bool(words))
IDS = st.uuids().map(str)


def _mark(kind: str, **attributes: Any) -> Node:
    return {"type": kind} | ({"attrs": attributes} if attributes else {})


MARKS = st.sampled_from(
    [
        [],
        [],
        [],
        [_mark("strong")],
        [_mark("em")],
        [_mark("strike")],
        [_mark("underline")],
        [_mark("subsup", type="sub")],
        [_mark("code")],
        [_mark("link", href="https://example.com/a?b=c")],
        [_mark("textColor", color="#ff5630")],
        [_mark("strong"), _mark("em")],
        [_mark("annotation", id="c-1", annotationType="inlineComment")],
        [_mark("link", href="https://example.com/x"), _mark("strong")],
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> Node:
    marks = draw(MARKS)
    return {"type": "text", "text": draw(WORDS)} | ({"marks": marks} if marks else {})


INLINE = st.one_of(
    texts(),
    texts(),
    st.builds(lambda local_id: {"type": "mention", "attrs": {"id": local_id, "text": "@Ana", "accessLevel": ""}}, IDS),
    st.builds(
        lambda local_id: {"type": "status", "attrs": {"text": "DONE", "color": "green", "localId": local_id}}, IDS
    ),
    st.just({"type": "emoji", "attrs": {"shortName": ":smile:", "id": "1f604", "text": "😄"}}),
    st.just({"type": "date", "attrs": {"timestamp": "1600000000000"}}),
    st.just({"type": "inlineCard", "attrs": {"url": "https://example.com/card"}}),
    st.just({"type": "hardBreak"}),
)
LINES = st.lists(INLINE, min_size=1, max_size=4)
PARAGRAPHS = st.one_of(
    st.builds(lambda line: {"type": "paragraph", "content": line}, LINES),
    st.builds(
        lambda line, local_id: {"type": "paragraph", "attrs": {"localId": local_id}, "content": line}, LINES, IDS
    ),
    st.just({"type": "paragraph", "content": []}),
)
HEADINGS = st.builds(
    lambda level, words, local_id: {
        "type": "heading",
        "attrs": {"level": level, "localId": local_id},
        "content": [{"type": "text", "text": words}],
    },
    st.integers(1, 4),
    st.sampled_from(["Goals", "Plan", "Risks", "Owner", "Next steps"]),
    IDS,
)


def _list(kind: str, items: list[list[Node]]) -> Node:
    return {"type": kind, "content": [{"type": "listItem", "content": blocks} for blocks in items]}


ITEMS = st.lists(
    st.builds(lambda line: {"type": "paragraph", "content": line}, LINES).map(lambda one: [one]),
    min_size=1,
    max_size=3,
)
LISTS = st.one_of(
    st.builds(_list, st.sampled_from(["bulletList", "orderedList"]), ITEMS),
    st.builds(
        lambda outer, inner: _list("bulletList", [[*outer[0], _list("orderedList", inner)], *outer[1:]]), ITEMS, ITEMS
    ),
    st.builds(
        lambda lines, local_id: {
            "type": "taskList",
            "attrs": {"localId": local_id},
            "content": [
                {
                    "type": "taskItem",
                    "attrs": {"localId": f"{local_id}-{n}", "state": "DONE" if n else "TODO"},
                    "content": line,
                }
                for n, line in enumerate(lines)
            ],
        },
        st.lists(LINES, min_size=1, max_size=2),
        IDS,
    ),
)


def _table(cells: list[list[Node]], *, colored: bool) -> Node:
    def cell(kind: str, line: list[Node]) -> Node:
        attributes = {"attrs": {"background": "#deebff"}} if colored else {}
        return {"type": kind, **attributes, "content": [{"type": "paragraph", "content": line}]}

    rows = [
        {"type": "tableRow", "content": [cell("tableHeader", cells[0]), cell("tableHeader", cells[1])]},
        {"type": "tableRow", "content": [cell("tableCell", cells[2]), cell("tableCell", cells[3])]},
    ]
    return {"type": "table", "attrs": {"layout": "default", "localId": "t"}, "content": rows}


CELL_LINES = st.lists(texts(), min_size=1, max_size=2)
OBJECTS = st.one_of(
    st.builds(
        lambda local_id: {
            "type": "extension",
            "attrs": {
                "extensionType": "com.atlassian.confluence.macro.core",
                "extensionKey": "toc",
                "parameters": {"macroParams": {}},
                "localId": local_id,
            },
        },
        IDS,
    ),
    st.builds(
        lambda local_id: {
            "type": "mediaSingle",
            "attrs": {"layout": "center"},
            "content": [
                {"type": "media", "attrs": {"id": local_id, "type": "file", "collection": "c", "alt": "plan.png"}}
            ],
        },
        IDS,
    ),
    st.builds(_table, st.lists(CELL_LINES, min_size=4, max_size=4), colored=st.booleans()),
    st.just({"type": "rule"}),
    st.builds(
        lambda code: {"type": "codeBlock", "attrs": {"language": "sql"}, "content": [{"type": "text", "text": code}]},
        WORDS,
    ),
)
INNER = st.lists(st.one_of(PARAGRAPHS, LISTS), min_size=1, max_size=2)
CONTAINERS = st.one_of(
    st.builds(
        lambda kind, blocks: {"type": "panel", "attrs": {"panelType": kind}, "content": blocks},
        st.sampled_from(["info", "note", "warning", "custom"]),
        INNER,
    ),
    st.builds(
        lambda words, blocks: {"type": "expand", "attrs": {"title": words}, "content": blocks},
        st.sampled_from(["More", "Details & notes"]),
        INNER,
    ),
    st.builds(
        lambda heading, left, right: {
            "type": "layoutSection",
            "content": [
                {"type": "layoutColumn", "attrs": {"width": 50}, "content": [heading, *left]},
                {"type": "layoutColumn", "attrs": {"width": 50}, "content": right},
            ],
        },
        HEADINGS,
        INNER,
        INNER,
    ),
)
BLOCKS = st.one_of(PARAGRAPHS, PARAGRAPHS, HEADINGS, LISTS, OBJECTS, CONTAINERS)
DOCUMENTS = st.lists(BLOCKS, min_size=1, max_size=8).map(
    lambda blocks: {"type": "doc", "version": 1, "content": blocks}
)
