"""The content of a paragraph, from Markdown."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mcp_atl.convert.inline_writer import ADDRESS, EMOJI, TAGS, rank, without_outer_breaks
from mcp_atl.convert.nodes import Node, joined_texts, marks, plain_text, text
from mcp_atl.convert.placeholders import PLACEHOLDER, Originals

if TYPE_CHECKING:
    from markdown_it.token import Token

_MARKS: dict[str, Node] = {
    f"{name}_{side}": {"type": kind}
    for name, kind in (("strong", "strong"), ("em", "em"), ("s", "strike"))
    for side in ("open", "close")
}
_MARKS_OF_CODE = frozenset({"link", "annotation"})
_MARK_KINDS = frozenset(
    {"annotation", "textColor", "backgroundColor", "border", "fontSize", "dataConsumer", "fragment"}
)
MAX_MARKS = 20
"""More tags that are open at the same time are words: no person writes them."""
_MENTIONS = ("accountid:", "user:")
_CARDS = ("http://", "https://")
_KINDS = {tag: kind for kind, tag in TAGS.items()}
_TAG = re.compile(r"<(/?)(b|i|s|u|sub|sup)>|<br ?/?>")
_PIECE = re.compile(
    f"(?P<placeholder>{PLACEHOLDER.pattern})|(?P<tag>{_TAG.pattern})"
    f"|(?P<address>{ADDRESS.pattern})|(?P<emoji>{EMOJI.pattern})"
)


class InlineReader:
    """Reads the tokens of a paragraph."""

    def __init__(self, originals: Originals | None) -> None:
        self._originals = originals

    def read(self, tokens: "Sequence[Token]") -> list[Node]:
        """The nodes of a paragraph, neighbours with the same marks joined."""
        if len(tokens) == 1 and tokens[0].type == "text" and _PIECE.search(tokens[0].content) is None:
            words = tokens[0].content.strip(" ")  # most paragraphs, in a tenth of the time
            return [text(words)] if words else []
        line = _Paragraph(self._originals)
        for token in _joined_tokens(tokens):
            line.add(token)
        return _trimmed(_without_at_signs(joined_texts(line.nodes)))


class _Paragraph:
    """The nodes of one paragraph so far, and the marks that are open."""

    def __init__(self, originals: Originals | None) -> None:
        self.nodes: list[Node] = []
        self._originals = originals
        self._marks: list[Node] = []
        self._repeated: list[Node] = []
        """Marks that are open inside the same mark, where they change nothing."""
        self._object: tuple[Node, int] | None = None
        """A mention or card whose link is open, and where its words begin."""

    def add(self, token: "Token") -> None:
        """Read one token."""
        match token.type:
            case "text":
                self._words(token)
            case "code_inline":
                self._code(token)
            case "softbreak":
                self._text(" ")
            case "hardbreak":
                self.nodes.append({"type": "hardBreak"})
            case "image":
                self._image(token)
            case "link_open":
                self._open_link(token)
            case "link_close":
                self._close_link()
            case "strong_open" | "em_open" | "s_open":
                self._open(_MARKS[token.type])
            case "strong_close" | "em_close" | "s_close":
                self._close(_MARKS[token.type])
            case _:
                self._text(token.content)

    def _text(self, words: str) -> None:
        self.nodes.append(text(words, _unique(self._marks)))

    def _code(self, token: "Token") -> None:
        outer = [mark for mark in self._marks if mark["type"] in _MARKS_OF_CODE]
        self.nodes.append(text(token.content, _unique([*outer, {"type": "code"}])))

    def _image(self, token: "Token") -> None:
        """An image between words is a link: the format has images only as blocks."""
        source = str(token.attrs["src"])
        link = [{"type": "link", "attrs": {"href": source}}] if source else []
        self.nodes.append(text(token.content or source, _unique([*self._marks, *link])))

    def _open_link(self, token: "Token") -> None:
        target = str(token.attrs["href"])
        user = unquote(target.partition(":")[2]) if target.startswith(_MENTIONS) else ""
        if user:
            self._object = {"type": "mention", "attrs": {"id": user}}, len(self.nodes)
        elif token.markup == "autolink" and target.startswith(_CARDS):
            self._object = {"type": "inlineCard", "attrs": {"url": target}}, len(self.nodes)
        else:
            title = token.attrs.get("title")
            known = {"href": target} | ({"title": title} if title else {})
            self._marks.append({"type": "link", "attrs": known})

    def _close_link(self) -> None:
        if self._object is None:
            self._marks = [mark for mark in self._marks if mark["type"] != "link"]
            return
        node, start = self._object
        words = "".join(map(plain_text, self.nodes[start:]))
        if node["type"] == "mention":
            node["attrs"]["text"] = f"@{words}"
        self.nodes[start:] = [node]
        self._object = None

    def _open(self, mark: Node) -> None:
        (self._repeated if mark in self._marks else self._marks).append(mark)

    def _close(self, mark: Node) -> None:
        """A tag may have closed it already."""
        for marks_of_kind in (self._repeated, self._marks):
            if mark in marks_of_kind:
                marks_of_kind.remove(mark)
                return

    # --- words, with the addresses, emojis, tags and placeholders in them ---------------------------------

    def _words(self, token: "Token") -> None:
        words, place = token.content, 0
        for piece in _PIECE.finditer(words):
            outer = _unique(self._marks)
            nodes = self._piece(piece)
            if nodes is None:
                continue
            self.nodes += [text(words[place : piece.start()], outer), *nodes]
            place = piece.end()
        self._text(words[place:])

    def _piece(self, piece: re.Match[str]) -> list[Node] | None:
        """The nodes of a piece, none if it opens or closes a mark; None if it is only words."""
        match piece.lastgroup:
            case "emoji":
                return [{"type": "emoji", "attrs": {"shortName": piece[0]}}]
            case "address":
                if any(mark["type"] == "link" for mark in self._marks):
                    return None
                link = {"type": "link", "attrs": {"href": piece[0]}}
                return [text(piece[0], _unique([*self._marks, link]))]
            case "placeholder":
                return self._placeholder(piece[0])
            case _:
                return self._tag(piece[0])

    def _placeholder(self, shown: str) -> list[Node] | None:
        parts = PLACEHOLDER.fullmatch(shown)
        if self._originals is None or parts is None:
            return None
        node = self._originals.find(parts[4], shown)
        if node["type"] not in _MARK_KINDS:
            return [node]
        if not parts[1]:
            self._marks.append(node)
        elif node in self._marks:
            self._marks.remove(node)
        return []

    def _tag(self, shown: str) -> list[Node] | None:
        parts = _TAG.fullmatch(shown)
        if parts is None or parts[2] is None:
            return [{"type": "hardBreak"}]
        kind = _KINDS[parts[2]]
        mark: Node = {"type": "subsup", "attrs": {"type": kind}} if kind in ("sub", "sup") else {"type": kind}
        if not parts[1] and len(self._marks) + len(self._repeated) < MAX_MARKS:
            self._open(mark)
        elif parts[1] and mark in self._marks:
            self._close(mark)
        else:
            return None
        return []


def _unique(open_marks: Sequence[Node]) -> list[Node]:
    """Each kind of mark once, the outermost first: the format has no mark inside the same mark."""
    return sorted({mark["type"]: mark for mark in open_marks}.values(), key=rank)


def _joined_tokens(tokens: "Sequence[Token]") -> "Iterator[Token]":
    """Neighbouring words as one token. Escaped characters stay apart."""
    pending: list[Token] = []
    for token in tokens:
        if token.type == "text":
            pending.append(token)
            continue
        yield from _one_token(pending)
        pending = []
        yield token
    yield from _one_token(pending)


def _one_token(tokens: "Sequence[Token]") -> "list[Token]":
    if len(tokens) < 2:  # noqa: PLR2004 - none, or one that needs no copy
        return list(tokens)
    return [tokens[0].copy(content="".join(one.content for one in tokens))]


def _without_at_signs(nodes: list[Node]) -> list[Node]:
    """The sign before a mention belongs to it."""
    for index, (node, after) in enumerate(pairwise(nodes[:])):
        if after["type"] == "mention" and node["type"] == "text":
            nodes[index] = {**node, "text": node["text"].removesuffix("@")}
    return [node for node in nodes if node["type"] != "text" or node["text"]]


def _trimmed(nodes: list[Node]) -> list[Node]:
    """Without breaks at the beginning and the end, and without spaces there and beside breaks: nobody sees them."""
    edges = [{"type": "hardBreak"}, *nodes, {"type": "hardBreak"}]
    trimmed: list[Node] = []
    for before, node, after in zip(edges, nodes, edges[2:], strict=False):
        if node["type"] != "text" or {"type": "code"} in marks(node):
            trimmed.append(node)
            continue
        words = node["text"].lstrip(" ") if before["type"] == "hardBreak" else node["text"]
        words = words.rstrip(" ") if after["type"] == "hardBreak" else words
        if words:
            trimmed.append({**node, "text": words})
    if len(trimmed) != len(nodes):
        return _trimmed(trimmed)
    return without_outer_breaks(trimmed)
