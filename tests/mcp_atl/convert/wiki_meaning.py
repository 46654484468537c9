"""What a document says, as far as wiki markup can say it."""

from collections.abc import Iterator
from typing import Any

from mcp_atl.convert.inline_writer import EMOJI
from mcp_atl.convert.nodes import Node, attributes, children, marks, plain_text

Line = tuple[tuple[str, ...], Any]


def said(document: Node) -> list[Line]:
    """Each line with the blocks that it is in.

    Wiki markup has no paragraphs in items; its cards and images are links, and its emojis are words.
    """
    return [(path, line) for path, line in _block(document, ()) if line]


_NAMES = {"nestedExpand": "expand", "panel:error": "panel:warning", "panel:tip": "panel:success"}


def _block(node: Node, path: tuple[str, ...]) -> Iterator[Line]:
    kind, known = node["type"], attributes(node)
    match kind:
        case "paragraph":
            yield from ((path, line) for line in _lines(children(node)))
        case "heading" | "taskItem":
            name = f"h{known['level']}" if kind == "heading" else known["state"]
            yield from (((*path, name), line) for line in _lines(children(node)))
        case "codeBlock":
            yield (*path, f"code:{known.get('language')}"), plain_text(node)
        case "rule":
            yield path, "rule"
        case "mediaSingle":
            yield path, _link(str(attributes(children(node)[0])["url"]))
        case _:
            name = f"{kind}:{known['panelType']}" if kind == "panel" else kind
            for one in children(node):
                yield from _block(one, path if kind in ("doc", "listItem") else (*path, _NAMES.get(name, name)))


def _lines(nodes: list[Node]) -> Iterator[Any]:
    line: list[Any] = []
    for node in nodes:
        if node["type"] == "hardBreak":
            yield line
            line = []
        else:
            line += _inline(node)
    yield line


def _inline(node: Node) -> list[Any]:
    known = attributes(node)
    match node["type"]:
        case "text":
            own = sorted(_mark(mark) for mark in marks(node))
            emojis = {place for found in EMOJI.finditer(node["text"]) for place in range(*found.span())}
            letters = [(letter, [] if place in emojis else own) for place, letter in enumerate(node["text"])]
            return [one for one in letters if not one[0].isspace()]
        case "inlineCard":
            return _link(str(known["url"]))
        case "mention":
            return [f"mention {known['id']}"]
        case _:
            return [(letter, []) for letter in str(known["shortName"])]


def _link(address: str) -> list[Any]:
    return [(letter, [f"link {_address(address)}"]) for letter in _address(address)]


def _mark(mark: Node) -> str:
    known = attributes(mark)
    return f"{mark['type']} {_address(known.get('href', known.get('type', '')))}".strip()


def _address(address: object) -> str:
    return "".join({"[": "%5B", "]": "%5D", "|": "%7C", " ": "%20"}.get(one, one) for one in str(address))
