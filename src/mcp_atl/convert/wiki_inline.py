"""The content of a line of wiki markup."""

import re
from bisect import bisect_left
from collections.abc import Callable

from mcp_atl.convert.inline_writer import EMOJI
from mcp_atl.convert.nodes import Node, joined_texts, text

_SIGNS = "*_+^~-"
_PIECE = re.compile(
    r"(?P<break> ?\\\\(?!\\) ?|\n)"
    r"|\\(?P<escaped>[\[\]{}|!*_+^~#\\.-])"
    r"|&#(?P<entity>\d{1,7});"
    r"|\{\{(?P<code>(?:\\.|[^{}\n\\]|\{(?!\{)|\}(?!\}))+)\}\}"
    r"|\[~(?P<user>[^\[\]|\s]+)\]"
    r"|\[(?P<label>(?:\\.|[^\[\]|\\\n])*)\|(?P<address>[^\[\]|\n]*)(?:\|[^\[\]\n]*)?\]"
    r"|\[(?P<plain>(?:https?://|mailto:|#|\^|/)[^\[\]|\n]*)\]"
    r"|(?<!\w)!(?P<image>[^\s!|]*[./][^\s!|]*)(?:\|[^!\n]*)?!"
    r"|(?P<color>\{color(?::[^{}\n]*)?\})"
    r"|(?P<sign>\{[*_+^~-]\}|(?<![\w\\])[*_+^~-](?=\S))"
    rf"|(?P<emoji>{EMOJI.pattern})"
    r"|(?P<bare>https?://[^\s\[\]|{}]+[^\s\[\]|{}.,;:!?)])"
)
_CLOSING = {
    **{sign: re.compile(rf"(?<=[^\s\\]){re.escape(sign)}(?!\w)") for sign in _SIGNS},
    **{f"{{{sign}}}": re.compile(re.escape(f"{{{sign}}}")) for sign in _SIGNS},
}
_ENTITY = re.compile(r"&#(\d{1,7});|\\([{}|])")
_MARKS: dict[str, Node] = {
    "*": {"type": "strong"},
    "_": {"type": "em"},
    "-": {"type": "strike"},
    "+": {"type": "underline"},
    "~": {"type": "subsup", "attrs": {"type": "sub"}},
    "^": {"type": "subsup", "attrs": {"type": "sup"}},
}
MAX_DEPTH = 10


def wiki_inline(markup: str) -> list[Node]:
    """The nodes of a paragraph."""
    nodes = joined_texts(_Markup(markup, (), 0).read())
    while nodes and nodes[-1]["type"] == "hardBreak":
        nodes.pop()
    return nodes


class _Markup:
    """One stretch of markup, read from its beginning to its end."""

    def __init__(self, markup: str, marks: tuple[Node, ...], depth: int) -> None:
        self._markup, self._marks, self._depth = markup, marks, depth
        self._is_link = any(mark["type"] == "link" for mark in marks)
        self._closings: dict[str, list[int]] = {}

    def read(self) -> list[Node]:
        """All nodes."""
        nodes: list[Node] = []
        place = 0
        while piece := _PIECE.search(self._markup, place):
            nodes.append(text(self._markup[place : piece.start()], self._marks))
            if piece["sign"]:
                inner, place = self._emphasis(piece)
                nodes += inner
            elif piece["bare"] and self._is_link:  # an address in the words of a link is words
                place = piece.start() + len("http")
                nodes.append(text("http", self._marks))
            else:
                nodes += _READERS[str(piece.lastgroup)](piece, self._marks)
                place = piece.end()
        return [*nodes, text(self._markup[place:], self._marks)]

    def _emphasis(self, piece: re.Match[str]) -> tuple[list[Node], int]:
        """The words up to the second sign, and where they end; the sign itself, if there is no second one."""
        sign = piece[0]
        if sign not in self._closings:
            self._closings[sign] = [found.start() for found in _CLOSING[sign].finditer(self._markup)]
        closings = self._closings[sign]
        index = bisect_left(closings, piece.end() + 1)
        end = closings[index] if index < len(closings) else -1
        line_end = self._markup.find("\n", piece.end(), end) if end >= 0 else -1
        if end < 0 or line_end >= 0 or self._depth >= MAX_DEPTH:
            return [text(sign, self._marks)], piece.end()
        mark = _MARKS[sign.strip("{}")]
        outer = tuple(one for one in self._marks if one["type"] != mark["type"])
        inner = _Markup(self._markup[piece.end() : end], (*outer, mark), self._depth + 1)
        return inner.read(), end + len(sign)


def _link(piece: re.Match[str], marks: tuple[Node, ...]) -> list[Node]:
    target = next(piece[name] for name in ("address", "plain", "image", "bare") if piece[name] is not None)
    if any(mark["type"] == "link" for mark in marks):
        return [text(target, marks)]  # an image in the words of a link
    link: Node = {"type": "link", "attrs": {"href": target}}
    if not piece["label"]:
        return [text(target, [*marks, link])]
    label = _Markup(piece["label"], (*marks, link), MAX_DEPTH - 5).read()
    return [one for one in label if one["type"] == "text"]


def _code(piece: re.Match[str], marks: tuple[Node, ...]) -> list[Node]:
    outer = [mark for mark in marks if mark["type"] == "link"]
    words = _ENTITY.sub(lambda found: _character(found[1]) if found[1] else found[2], piece["code"])
    return [text(words, [*outer, {"type": "code"}])]


def _character(number: str) -> str:
    code = int(number)
    return chr(code) if 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else f"&#{number};"  # noqa: PLR2004 - Unicode


def _mention(piece: re.Match[str], _marks: tuple[Node, ...]) -> list[Node]:
    return [{"type": "mention", "attrs": {"id": piece["user"], "text": f"@{piece['user']}"}}]


_READERS: dict[str, Callable[[re.Match[str], tuple[Node, ...]], list[Node]]] = {
    "break": lambda _piece, _marks: [{"type": "hardBreak"}],
    "escaped": lambda piece, marks: [text(piece["escaped"], marks)],
    "entity": lambda piece, marks: [text(_character(piece["entity"]), marks)],
    "code": _code,
    "user": _mention,
    "address": _link,
    "plain": _link,
    "image": _link,
    "bare": _link,
    "emoji": lambda piece, _marks: [{"type": "emoji", "attrs": {"shortName": piece["emoji"]}}],
    "color": lambda _piece, _marks: [],
}
