"""A document from Markdown, as agents write it.

GitHub's Markdown, and besides it:

    > [!NOTE]                        a panel; also [!IMPORTANT], [!TIP], [!WARNING], [!CAUTION]
    @[Ana Ruiz](accountid:712020)    a mention
    <details><summary>More</summary> an expand, up to </details>
    :smile:                          an emoji
    <https://example.com>            a card; a bare address is a link
    <u>, <sub>, <sup>, <br>          what they do in HTML; all other tags are words
    {{status DONE#3f2a91}}           a placeholder: the node that it stands for
"""

import re
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mcp_atl.convert.inline_reader import InlineReader
from mcp_atl.convert.markdown_parser import tokenize
from mcp_atl.convert.markdown_writer import MarkdownWriter
from mcp_atl.convert.nodes import (
    PANEL_TYPES,
    Node,
    block,
    children,
    contained,
    document,
    lines,
    plain_text,
    text,
)
from mcp_atl.convert.placeholders import PLACEHOLDER, Originals
from toolcharter import InvalidArguments

if TYPE_CHECKING:
    from markdown_it.token import Token

_PANEL = re.compile(r"\[!(NOTE|IMPORTANT|TIP|WARNING|CAUTION)\]\s*")
_TASK = re.compile(r"\[([ xX])\](?:\s+|$)")
_DETAILS = re.compile(r"<details>\s*(?:<summary>(.{0,1000}?)</summary>)?\s*", re.DOTALL)
_LANGUAGE = re.compile(r"[\w+#.-]+")
_START_DETAILS, _END_DETAILS = "<details>", "</details>"
_SOURCE = "source"
"""The Markdown of a paragraph that may begin or end an expand, until it is folded."""
MAX_EXPAND_DEPTH = 20

MakeId = Callable[[], str]


def new_id() -> str:
    """An id for a task, which the format demands."""
    return str(uuid.uuid4())


class MarkdownReader:
    """Reads Markdown. With `originals`, placeholders bring their nodes back; without, they are words."""

    def __init__(self, originals: Originals | None = None, make_id: MakeId = new_id) -> None:
        self._originals, self._make_id = originals, make_id
        self._inline = InlineReader(originals)

    def document(self, markdown: str) -> Node:
        """A whole document."""
        return document(self.blocks(markdown))

    def blocks(self, markdown: str) -> list[Node]:
        """The blocks of a text."""
        tokens = tokenize(markdown.replace("\x00", ""))
        blocks, _ = self._blocks(tokens, 0)
        return blocks

    def _blocks(self, tokens: "Sequence[Token]", start: int) -> tuple[list[Node], int]:
        """Blocks up to the end of the container that they are in, and the place of that end."""
        found: list[Node] = []
        index = start
        while index < len(tokens) and tokens[index].nesting != -1:
            index = self._read(tokens, index, found)
        return self._folded(found), index

    def _read(self, tokens: "Sequence[Token]", index: int, found: list[Node]) -> int:
        token = tokens[index]
        match token.type:
            case "paragraph_open":
                found += self._paragraph(tokens[index + 1])
                return index + 3
            case "heading_open":
                content = self._inline.read(tokens[index + 1].children or [])
                found.append(block("heading", content, level=int(token.tag[1])))
                return index + 3
            case "fence" | "code_block":
                language = known[0] if (known := _LANGUAGE.match(token.info.strip())) else None
                code = token.content.removesuffix("\n")
                found.append(block("codeBlock", [text(code)] if code else [], language=language))
                return index + 1
            case "hr":
                found.append({"type": "rule"})
                return index + 1
            case "bullet_list_open" | "ordered_list_open":
                return self._list(tokens, index, found)
            case "blockquote_open":
                inner, end = self._blocks(tokens, index + 1)
                is_panel = _PANEL.match(_first_line(tokens, index + 1)) is not None
                found.append((is_panel and _panel(inner)) or block("blockquote", contained("blockquote", inner)))
                return end + 1
            case "table_open":
                return self._table(tokens, index, found)
            case _:
                return index + 1

    def _paragraph(self, token: "Token") -> list[Node]:
        inner = token.children or []
        if len(inner) == 1 and inner[0].type == "image" and inner[0].attrs["src"]:
            image = inner[0]
            media = block("media", type="external", url=str(image.attrs["src"]), alt=image.content or None)
            del media["content"]
            return [block("mediaSingle", [media], layout="center")]
        if self._originals is not None and (whole := PLACEHOLDER.fullmatch(token.content.strip())):
            return [self._placeholder(whole, self._originals)]
        paragraph = block("paragraph", self._inline.read(inner))
        is_fold = token.content.startswith(_START_DETAILS) or token.content.strip() == _END_DETAILS
        return [paragraph | {_SOURCE: token.content}] if is_fold else [paragraph]

    def _placeholder(self, found: re.Match[str], originals: Originals) -> Node:
        """A placeholder alone in a paragraph: a block, or an inline node in a paragraph of its own."""
        node = originals.find(found[4], found[0])
        if found[1]:
            return block("paragraph", [text(found[0])])
        if node["type"] in _INLINE_KINDS:
            return block("paragraph", [node])
        return {"type": _OPENING, "node": node, "shown": found[0]}

    def _list(self, tokens: "Sequence[Token]", index: int, found: list[Node]) -> int:
        opening = tokens[index]
        items: list[tuple[str | None, list[Node]]] = []
        place = index + 1
        while tokens[place].type == "list_item_open":
            inner, end = self._blocks(tokens, place + 1)
            is_task = _TASK.match(_first_line(tokens, place + 1)) is not None
            items.append(_task_state(inner) if is_task else (None, inner))
            place = end + 1
        if opening.type == "ordered_list_open":
            start = int(opening.attrs.get("start", 1))
            nodes = [block("listItem", contained("listItem", inner)) for _, inner in items]
            found.append(block("orderedList", nodes, order=start if start != 1 else None))
        else:
            found += self._bullets_and_tasks(items)
        return place + 1

    def _bullets_and_tasks(self, items: "Sequence[tuple[str | None, list[Node]]]") -> list[Node]:
        """A list, split where tasks begin and end."""
        lists: list[Node] = []
        for state, inner in items:
            kind = "bulletList" if state is None else "taskList"
            if not lists or lists[-1]["type"] != kind:
                lists.append(block(kind, localId=None if state is None else self._make_id()))
            if state is None:
                children(lists[-1]).append(block("listItem", contained("listItem", inner)))
            else:
                children(lists[-1]).extend(self._task(state, inner))
        return lists

    def _task(self, state: str, inner: list[Node]) -> list[Node]:
        """A task, and the tasks below it. A task has one line; further blocks are joined to it."""
        words: list[Node] = []
        below: list[Node] = []
        for one in inner:
            if one["type"] == "taskList":
                below.append(one)
            else:
                for line in lines(one):
                    words += [{"type": "hardBreak"}, *line] if words else line
        return [block("taskItem", words, localId=self._make_id(), state=state), *below]

    def _table(self, tokens: "Sequence[Token]", index: int, found: list[Node]) -> int:
        rows: list[Node] = []
        place = index + 1
        while tokens[place].type != "table_close":
            token = tokens[place]
            if token.type == "tr_open":
                rows.append(block("tableRow"))
            elif token.type in ("th_open", "td_open"):
                content = self._inline.read(tokens[place + 1].children or [])
                kind = "tableHeader" if token.type == "th_open" else "tableCell"
                children(rows[-1]).append(block(kind, [block("paragraph", content)]))
            place += 1
        found.append(block("table", rows))
        return place + 1

    # --- what stands between two marks --------------------------------------------------------------------

    def _folded(self, blocks: list[Node]) -> list[Node]:
        """Blocks with expands and locked blocks put together from what stands between their beginning and end."""
        if not any(_SOURCE in one or one["type"] == _OPENING for one in blocks):
            return blocks
        folded: list[Node] = []
        ends = _details_ends(blocks)
        index = 0
        while index < len(blocks):
            one = blocks[index]
            if one["type"] == _OPENING:
                index = self._locked(blocks, index, folded)
            elif index in ends:
                inner = self._folded([*_rest_of_details(one), *blocks[index + 1 : ends[index]]])
                folded.append(block("expand", contained("expand", inner), title=_details_title(one)))
                index = ends[index] + 1
            else:
                folded.append({key: value for key, value in one.items() if key != _SOURCE})
                index += 1
        return folded

    def _locked(self, blocks: list[Node], index: int, folded: list[Node]) -> int:
        """A block without a Markdown form. Its readable part must be unchanged."""
        node, shown = blocks[index]["node"], blocks[index]["shown"]
        closing = "{{/" + shown[2:].partition("#")[0].partition(" ")[0] + "#" + shown.rpartition("#")[2]
        end = next((place for place in range(index + 1, len(blocks)) if _is_line(blocks[place], closing)), None)
        folded.append(node)
        if end is None:
            return index + 1
        writer = MarkdownWriter(self._originals)
        inner = self._folded(blocks[index + 1 : end])
        before = self.blocks(writer.locked_body(node))  # as Markdown has it, which may differ in rare cases
        if _same_words(writer.blocks(inner), writer.blocks(before)):
            return end + 1
        raise InvalidArguments(
            f"What stands between {shown} and {closing} was changed, but Markdown cannot say all of it. Change words "
            "in it with old_text and new_text, or a section inside it by its own heading.",
            fields=("parameters",),
        )


_OPENING = "opening"
"""The type of a block that stands for the beginning of a locked one, until it is folded."""
_INLINE_KINDS = frozenset(
    {
        "storageInline",
        "status",
        "date",
        "inlineExtension",
        "mediaInline",
        "mention",
        "emoji",
        "inlineCard",
        "placeholder",
    }
)


def _task_state(inner: list[Node]) -> tuple[str | None, list[Node]]:
    """Whether an item begins with a box, and the item without it."""
    first = children(inner[0])[:1] if inner and inner[0]["type"] == "paragraph" else []
    if not first or first[0]["type"] != "text" or first[0].get("marks"):
        return None, inner
    found = _TASK.match(str(first[0]["text"]))
    if found is None:
        return None, inner
    rest = str(first[0]["text"])[found.end() :]
    words = [*([text(rest)] if rest else []), *children(inner[0])[1:]]
    return ("TODO" if found[1] == " " else "DONE"), [block("paragraph", words), *inner[1:]]


def _first_line(tokens: "Sequence[Token]", index: int) -> str:
    """The source of the paragraph at a place, where escaped signs still differ from others."""
    return tokens[index + 1].content if tokens[index].type == "paragraph_open" else ""


def _panel(inner: list[Node]) -> Node | None:
    first = children(inner[0]) if inner and inner[0]["type"] == "paragraph" else []
    found = _PANEL.match(str(first[0].get("text", ""))) if first and not first[0].get("marks") else None
    if found is None:
        return None
    rest = str(first[0]["text"])[found.end() :]
    words = [*([text(rest)] if rest else []), *first[1:]]
    while words and words[0]["type"] == "hardBreak":
        words = words[1:]
    body = [*([block("paragraph", words)] if words else []), *inner[1:]]
    return block("panel", contained("panel", body), panelType=PANEL_TYPES[found[1]])


def _details_title(node: Node) -> str:
    found = _DETAILS.match(plain_text(node))
    return (found[1] or "").strip() if found else ""


def _rest_of_details(node: Node) -> list[Node]:
    words = _DETAILS.sub("", plain_text(node), count=1).strip()
    return [block("paragraph", [text(words)])] if words else []


def _details_ends(blocks: Sequence[Node]) -> dict[int, int]:
    """The end of each expand, by its beginning."""
    ends: dict[int, int] = {}
    begun: list[int] = []
    for index, one in enumerate(blocks):
        source = str(one.get(_SOURCE, "")).strip()
        if source == _END_DETAILS and begun:
            ends[begun.pop()] = index
        elif source.startswith(_START_DETAILS) and len(begun) < MAX_EXPAND_DEPTH:
            begun.append(index)
    return ends


def _is_line(node: Node, words: str) -> bool:
    return node["type"] == "paragraph" and plain_text(node).strip() == words


def _same_words(one: str, other: str) -> bool:
    return one.split() == other.split()
