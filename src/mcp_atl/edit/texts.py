"""Exact text in a document: where it is, and another in its place."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mcp_atl.convert.markdown_reader import MarkdownReader
from mcp_atl.convert.nodes import Node, children, marks, plain_text, text
from toolcharter import InvalidArguments, NotFound

TEXT_BLOCKS = frozenset({"paragraph", "heading", "taskItem", "decisionItem", "codeBlock", "caption"})
OBJECT = "\ufffc"
"""Stands for a mention or another object between words."""


class Match(NamedTuple):
    """A place of the text: the block at `path`, and from where to where in its words."""

    path: tuple[int, ...]
    start: int
    end: int


def find_once(document: Node, wanted: str) -> Match:
    """The only place of a text. It is looked for as it is, and then as the words that it has as Markdown."""
    for words in dict.fromkeys((wanted, _plain(wanted))):
        found = list(_matches(document, (), words)) if words.strip() else []
        if len(found) == 1:
            return found[0]
        if found:
            raise InvalidArguments(
                f"parameters.old_text: {_short(wanted)} occurs {len(found)} times. Give more of the words around it.",
                fields=("parameters",),
            )
    raise NotFound(
        f"The page does not have the text {_short(wanted)} within one paragraph. Read the section with get, and copy "
        "the words as they stand there."
    )


def replaced(block: Node, match: Match, new: str) -> Node:
    """A block with other words in place of those that were found. They get the marks of the first of them."""
    fresh = [text(new)] if block["type"] == "codeBlock" and new else _inline(new)
    content: list[Node] = []
    place, is_written = 0, False
    for node in children(block):
        words = _words(node)
        start, end = max(match.start - place, 0), min(match.end - place, len(words))
        place += len(words)
        if start >= len(words) or end <= 0 or node["type"] != "text":
            content.append(node)
            continue
        before, after = words[:start], words[end:]
        if before:
            content.append({**node, "text": before})
        if not is_written:
            content += [_with_marks(one, marks(node)) for one in fresh]
            is_written = True
        if after:
            content.append({**node, "text": after})
    return {key: value for key, value in block.items() if key not in ("raw", "at")} | {"content": content}


def _matches(node: Node, path: tuple[int, ...], words: str) -> Iterator[Match]:
    if node["type"] in TEXT_BLOCKS:
        line = "".join(map(_words, children(node)))
        place = line.find(words)
        while place >= 0:
            yield Match(path, place, place + len(words))
            place = line.find(words, place + 1)
        return
    for index, one in enumerate(children(node)):
        yield from _matches(one, (*path, index), words)


def _words(node: Node) -> str:
    if node["type"] == "text":
        return str(node["text"])
    return "\n" if node["type"] == "hardBreak" else OBJECT


def _inline(markdown: str) -> list[Node]:
    """The new words. Where they are more than a paragraph, they are taken as they are."""
    blocks = MarkdownReader().blocks(markdown)
    if len(blocks) == 1 and blocks[0]["type"] == "paragraph":
        lead = " " if markdown[:1].isspace() else ""
        trail = " " if markdown[-1:].isspace() else ""
        return [*([text(lead)] if lead else []), *children(blocks[0]), *([text(trail)] if trail else [])]
    return [text(markdown)] if markdown else []


def _with_marks(node: Node, outer: Sequence[Node]) -> Node:
    if node["type"] != "text":
        return node
    own = {mark["type"]: mark for mark in (*outer, *marks(node))}
    if "code" in own:
        own = {kind: mark for kind, mark in own.items() if kind in ("code", "link", "annotation")}
    return {"type": "text", "text": node["text"]} | ({"marks": list(own.values())} if own else {})


def _plain(markdown: str) -> str:
    blocks = MarkdownReader().blocks(markdown)
    return plain_text(blocks[0]) if len(blocks) == 1 else markdown


def _short(words: str) -> str:
    return repr(words if len(words) <= 80 else f"{words[:80]}...")  # noqa: PLR2004 - a line
