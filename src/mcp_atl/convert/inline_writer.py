"""The content of a paragraph as Markdown: words, marks, mentions, links."""

import re
from collections.abc import Sequence
from urllib.parse import quote

from mcp_atl.convert.nodes import Node, attributes, marks
from mcp_atl.convert.placeholders import Originals

EMOJI = re.compile(r"(?<![\w:]):(?:[A-Za-z][\w+-]{0,60}|[+-]1|100):(?![\w:])")
"""An emoji, which stands apart from other words: `std::vector::iterator` has none."""
ADDRESS = re.compile(r"https?://[^\s<>\"'`{}|\\^\[\]]+[^\s<>\"'`{}|\\^\[\].,;:!?)*_~]")
"""An address in plain words. What ends a sentence does not belong to it."""
TAGS = {"strong": "b", "em": "i", "strike": "s", "underline": "u", "sub": "sub", "sup": "sup"}
"""HTML that is read as marks. Anything else that looks like HTML is words."""

_SIGNS = {"strong": "**", "em": "*", "strike": "~~"}
_ORDER = ("link", "annotation", "strong", "em", "strike", "underline", "subsup", "code")
_SPECIAL = re.compile(
    r"([\\`*\[\]]|(?<![^\W_])_|_(?![^\W_])|~(?=~)|(?<=~)~|<(?=/?(?:b|i|s|u|sub|sup|br|details|summary)\b|https?:|[^\s<>@]{1,80}@)|\{(?=\{)|&(?=#?\w+;))"
)
_SCHEME = re.compile(r"(https?):(?=//)")
_AFTER_ADDRESS = re.compile(r"[.,;:!?)]*(?:\s|$)")
_LINE_START = re.compile(r"(?m)^( *)(#{1,6}(?=\s|$)|[-+](?=\s|$)|>|=+ *$|-{2,} *$|~{3,}|\|)")
_NUMBER_START = re.compile(r"(?m)^( *\d{1,9})([.)])(?=\s|$)")


class InlineWriter:
    """Writes inline nodes."""

    def __init__(self, originals: Originals) -> None:
        self._originals = originals

    def write(self, nodes: Sequence[Node]) -> str:
        """The nodes of one paragraph."""
        written = self._marked(without_outer_breaks(nodes)).strip()
        shielded = _LINE_START.sub(lambda found: f"{found[1]}\\{found[2]}", written)
        return _NUMBER_START.sub(r"\1\\\2", shielded)

    def escaped(self, words: str) -> str:
        """Words that are not Markdown."""
        plain = _SPECIAL.sub(r"\\\1", words.replace("\n", " "))
        plain = EMOJI.sub(lambda found: "\\" + found[0], plain)
        return _SCHEME.sub(r"\1\\:", plain)

    def _marked(self, nodes: list[Node]) -> str:
        """Nodes with their marks, the outermost first; neighbours with the same mark share it."""
        parts: list[str] = []
        index = 0
        while index < len(nodes):
            mark = _outermost(nodes[index])
            if mark is None:
                before, after = parts[-1][-1:] if parts else "", _first_character(nodes[index + 1 : index + 2])
                parts.append(self._leaf(nodes[index], before + after))
                index += 1
                continue
            end = index + 1
            while end < len(nodes) and mark in marks(nodes[end]) and _outermost(nodes[end]) == mark:
                end += 1
            inner = [_without(node, mark) for node in nodes[index:end]]
            before = parts[-1][-1:] if parts else ""
            wrapped = self._wrapped(mark, inner, before, nodes[end : end + 2])
            if before == "!" and wrapped.startswith("["):
                parts[-1] = f"{parts[-1][:-1]}\\!"  # the link would be an image
            parts.append(wrapped)
            index = end
        return "".join(parts)

    def _wrapped(self, mark: Node, inner: list[Node], before: str, after: Sequence[Node]) -> str:
        kind = mark["type"]
        if kind == "code":
            return _code("".join(str(one.get("text", "")) for one in inner))
        if kind == "link":
            return self._link(mark, inner, is_apart=_ends_address(after) and not re.match(r"[\w:]", before))
        body = self._marked(inner)
        if kind in ("underline", "subsup"):
            tag = TAGS[attributes(mark)["type"] if kind == "subsup" else kind]
            return f"<{tag}>{body}</{tag}>"
        if kind in _SIGNS:
            return _emphasized(kind, body, before, str(after[0].get("text", " "))[:1] if after else " ")
        opening, closing = self._originals.around(mark)
        return f"{opening}{body}{closing}"

    def _link(self, mark: Node, inner: list[Node], *, is_apart: bool) -> str:
        known = attributes(mark)
        address, words = str(known.get("href", "")), "".join(str(one.get("text", "")) for one in inner)
        plain = all(one["type"] == "text" and not marks(one) for one in inner) and is_apart
        if plain and words == address and ADDRESS.fullmatch(address) and not known.get("title"):
            return address
        target = f"<{address}>" if re.search(r"[\s()<>]", address) or not address else address
        title = f' "{str(known["title"]).replace(chr(34), "&quot;")}"' if known.get("title") else ""
        return f"[{self._marked(inner)}]({target.replace('<<', '<').replace('>>', '>')}{title})"

    def _leaf(self, node: Node, neighbours: str) -> str:
        """A node without marks. `neighbours` are the characters beside it."""
        known = attributes(node)
        match node["type"]:
            case "text":
                return self.escaped(str(node["text"]))
            case "hardBreak":
                return "\\\n"
            case "mention":
                name = self.escaped(str(known.get("text") or known["id"]).removeprefix("@"))
                return f"@[{name}](accountid:{quote(str(known['id']), safe=':@')})"
            case "emoji" if EMOJI.fullmatch(str(known.get("shortName"))) and not re.search(r"[\w:]", neighbours):
                return str(known["shortName"])
            case "inlineCard" if re.fullmatch(r"https?://[^\s<>]+", str(known.get("url", ""))):
                return f"<{known['url']}>"
            case _:
                return self._originals.placeholder(node)


def _ends_address(after: Sequence[Node]) -> bool:
    """Whether an address that is not marked as a link ends before these nodes."""
    if not after or after[0]["type"] == "hardBreak":
        return True
    words = str(after[0].get("text", "x"))
    if any(mark["type"] not in _SIGNS or not words[0].isspace() for mark in marks(after[0])):
        return False  # spaces at the edge of emphasis are written outside it
    return _AFTER_ADDRESS.match(words + ("x" if len(after) > 1 and after[1]["type"] != "hardBreak" else "")) is not None


def _first_character(nodes: Sequence[Node]) -> str:
    """The character that is written next, as far as it is a letter or the sign of an emoji."""
    if not nodes or marks(nodes[0]):
        return ""
    return str(nodes[0].get("text", ":" if nodes[0]["type"] == "emoji" else ""))[:1]


def without_outer_breaks(nodes: Sequence[Node]) -> list[Node]:
    """A break at the beginning or the end of a paragraph cannot be seen, and Markdown has none."""
    start, end = 0, len(nodes)
    while start < end and nodes[start]["type"] == "hardBreak":
        start += 1
    while end > start and nodes[end - 1]["type"] == "hardBreak":
        end -= 1
    return list(nodes[start:end])


def _outermost(node: Node) -> Node | None:
    return min(marks(node), key=rank, default=None)


def rank(mark: Node) -> int:
    """How far outside a mark is written."""
    return _ORDER.index(mark["type"]) if mark["type"] in _ORDER else 1


def _without(node: Node, mark: Node) -> Node:
    rest = [one for one in marks(node) if one != mark]
    return {**{key: value for key, value in node.items() if key != "marks"}, **({"marks": rest} if rest else {})}


def _code(words: str) -> str:
    runs = {len(one) for one in re.findall(r"`+", words)}
    fence = "`" * next(length for length in range(1, len(words) + 2) if length not in runs)
    padded = (
        f" {words} "
        if words[:1] == "`" or words[-1:] == "`" or (words[:1] == words[-1:] == " " and words.strip())
        else words
    )
    return f"{fence}{padded}{fence}"


def _emphasized(kind: str, body: str, before: str, after: str) -> str:
    """Signs around the words, or tags where Markdown would not take the signs for emphasis."""
    words = body.strip()
    if not words:
        return body
    lead, trail = body[: len(body) - len(body.lstrip())], body[len(body.rstrip()) :]
    outside = (lead[-1:] or before or " ", trail[:1] or after or " ")
    if (_is_plain_edge(words[0]) and _is_plain_edge(words[-1])) or (
        outside[0].isspace() and outside[1].isspace() and words[0] not in "*~" and words[-1] not in "*~\\"
    ):
        return f"{lead}{_SIGNS[kind]}{words}{_SIGNS[kind]}{trail}"
    tag = TAGS[kind]
    return f"{lead}<{tag}>{words}</{tag}>{trail}"


def _is_plain_edge(character: str) -> bool:
    return character.isalnum()
