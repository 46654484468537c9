"""What a paragraph contains, from Markdown."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mcp_atl.convert.inline_writer import ADDRESS, EMOJI, TAGS
from mcp_atl.convert.nodes import Node, text
from mcp_atl.convert.placeholders import PLACEHOLDER, Originals

if TYPE_CHECKING:
    from markdown_it.token import Token

_MARKS = {"strong_open": "strong", "em_open": "em", "s_open": "strike"}
_TAG = re.compile(r"<(/?)(b|i|s|u|sub|sup)>|<br\s*/?>")
_MENTION = ("accountid:", "user:")
_PIECE = re.compile(
    f"(?P<placeholder>{PLACEHOLDER.pattern})|(?P<tag>{_TAG.pattern})|(?P<address>{ADDRESS.pattern})|(?P<emoji>{EMOJI.pattern})"
)

_KINDS = {tag: kind for kind, tag in TAGS.items()}


class InlineReader:
    """Reads the tokens of one paragraph."""

    def __init__(self, originals: Originals | None) -> None:
        self._originals = originals

    def read(self, tokens: "Sequence[Token]") -> list[Node]:
        """The nodes of a paragraph, neighbours with the same marks joined."""
        return _joined(self._nodes(tokens))

    def _nodes(self, tokens: "Sequence[Token]") -> Iterator[Node]:
        open_marks: list[Node] = []
        mention: list[Node] | None = None
        target = ""
        for token in _merged(tokens):
            match token.type:
                case "text":
                    pieces = self._words(token.content, open_marks)
                    if mention is None:
                        yield from pieces
                    else:
                        mention += pieces
                case "text_special":
                    if mention is None:
                        yield text(token.content, _valid(open_marks))
                    else:
                        mention.append(text(token.content))
                case "code_inline":
                    yield text(
                        token.content,
                        [*(m for m in open_marks if m["type"] in ("link", "annotation")), {"type": "code"}],
                    )
                case "softbreak":
                    yield text(" ", _valid(open_marks))
                case "hardbreak":
                    yield {"type": "hardBreak"}
                case "image":
                    link = {"type": "link", "attrs": {"href": str(token.attrs["src"])}}
                    yield text(token.content or str(token.attrs["src"]), [*_valid(open_marks), link])
                case "link_open":
                    target = str(token.attrs["href"])
                    if target.startswith(_MENTION):
                        mention = []
                    elif token.markup == "autolink":
                        yield {"type": "inlineCard", "attrs": {"url": target}}
                        mention = []  # its words are the address again
                    else:
                        open_marks.append(_link(token))
                case "link_close" if mention is not None:
                    if target.startswith(_MENTION):
                        name = "".join(str(one.get("text", "")) for one in mention)
                        yield {"type": "mention", "attrs": {"id": target.partition(":")[2], "text": f"@{name}"}}
                    mention = None
                case "link_close":
                    _close(open_marks, "link")
                case kind if kind in _MARKS:
                    open_marks.append({"type": _MARKS[kind]})
                case kind if kind.replace("_close", "_open") in _MARKS:
                    _close(open_marks, _MARKS[kind.replace("_close", "_open")])
                case _:
                    if token.content:
                        yield text(token.content, _valid(open_marks))

    def _words(self, words: str, open_marks: list[Node]) -> list[Node]:
        """Words with the addresses, emojis, tags and placeholders in them. A mark that a tag opens stays open."""
        nodes: list[Node] = []
        place = 0
        for found in _PIECE.finditer(words):
            node = self._piece(found, open_marks)
            if node is None:
                continue
            if before := words[place : found.start()]:
                nodes.append(text(before, _valid(node["before"] if "before" in node else open_marks)))
            place = found.end()
            if "before" not in node:
                nodes.append(node)
        if rest := words[place:]:
            nodes.append(text(rest, _valid(open_marks)))
        return nodes

    def _piece(self, found: re.Match[str], open_marks: list[Node]) -> Any:
        """The node of a piece; {"before": marks} if it only opens or closes a mark; None if it is words."""
        before = list(open_marks)
        match found.lastgroup:
            case "emoji":
                return {"type": "emoji", "attrs": {"shortName": found[0]}}
            case "address":
                if any(mark["type"] == "link" for mark in open_marks):
                    return None
                return text(found[0], [*_valid(open_marks), {"type": "link", "attrs": {"href": found[0]}}])
            case "placeholder":
                return self._placeholder(found[0], open_marks, before)
            case _:
                return _tag(found[0], open_marks, before)

    def _placeholder(self, shown: str, open_marks: list[Node], before: list[Node]) -> Any:
        parts = PLACEHOLDER.fullmatch(shown)
        if self._originals is None or parts is None:
            return None
        node = self._originals.find(parts[4], shown)
        if node["type"] not in _MARK_KINDS:
            return node
        if parts[1]:
            _remove(open_marks, node)
        else:
            open_marks.append(node)
        return {"before": before}


_MARK_KINDS = frozenset(
    {"annotation", "textColor", "backgroundColor", "border", "fontSize", "dataConsumer", "fragment"}
)


def _tag(shown: str, open_marks: list[Node], before: list[Node]) -> Any:
    parts = _TAG.fullmatch(shown)
    if parts is None or parts[2] is None:
        return {"type": "hardBreak"}
    kind = _KINDS[parts[2]]
    mark: Node = {"type": "subsup", "attrs": {"type": kind}} if kind in ("sub", "sup") else {"type": kind}
    if not parts[1]:
        open_marks.append(mark)
    elif mark in open_marks:
        _remove(open_marks, mark)
    else:
        return None
    return {"before": before}


def _link(token: "Token") -> Node:
    title = token.attrs.get("title")
    return {"type": "link", "attrs": {"href": str(token.attrs["href"])} | ({"title": title} if title else {})}


def _close(open_marks: list[Node], kind: str) -> None:
    for index in range(len(open_marks) - 1, -1, -1):
        if open_marks[index]["type"] == kind:
            del open_marks[index]
            return


def _remove(open_marks: list[Node], mark: Node) -> None:
    if mark in open_marks:
        open_marks.remove(mark)


def _valid(open_marks: Sequence[Node]) -> list[Node]:
    """Each kind of mark once: the format has no mark in itself."""
    return list({mark["type"]: mark for mark in open_marks}.values())


def _merged(tokens: "Sequence[Token]") -> "Iterator[Token]":
    """Neighbouring words as one token; what was escaped stays apart."""
    pending: Token | None = None
    for token in tokens:
        if token.type == "text" and pending is not None:
            pending = pending.copy(content=pending.content + token.content)
            continue
        if pending is not None:
            yield pending
            pending = None
        if token.type == "text":
            pending = token
        else:
            yield token
    if pending is not None:
        yield pending


def _joined(nodes: Iterator[Node]) -> list[Node]:
    """Text nodes with the same marks as one, none of them empty; no space before a break or at the end."""
    joined: list[Node] = []
    for node in nodes:
        previous = joined[-1] if joined else None
        if node["type"] == "text" and not node["text"]:
            continue
        if (
            previous is not None
            and node["type"] == previous["type"] == "text"
            and node.get("marks") == previous.get("marks")
        ):
            joined[-1] = {**previous, "text": previous["text"] + node["text"]}
        else:
            joined.append(node)
    return _without_at(joined)


def _without_at(nodes: list[Node]) -> list[Node]:
    """The sign before a mention belongs to it."""
    for index, node in enumerate(nodes):
        if node["type"] == "mention" and index and nodes[index - 1]["type"] == "text":
            before = nodes[index - 1]
            if before["text"].endswith("@"):
                nodes[index - 1] = {**before, "text": before["text"][:-1]}
    return [node for node in nodes if node["type"] != "text" or node["text"]]
