"""New blocks in place of old ones, where a block whose Markdown is the same keeps its node.

So even inside a section that is replaced, only what changed changes: ids, widths, alignments and the marks of
comments in other paragraphs stay.
"""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from mcp_atl.convert.markdown_reader import MarkdownReader
from mcp_atl.convert.markdown_writer import MarkdownWriter
from mcp_atl.convert.nodes import Node, attributes, children, marks
from mcp_atl.convert.placeholders import PLACEHOLDER, Originals
from toolcharter import Conflict


class Merged(NamedTuple):
    """The blocks after a change, and how many of them are new or kept."""

    blocks: list[Node]
    kept: int
    changed: int
    added: int
    removed: int

    @property
    def summary(self) -> str:
        """The outcome in words."""
        counts = {"kept": self.kept, "changed": self.changed, "added": self.added, "removed": self.removed}
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing changed"


def merge(old: Sequence[Node], markdown: str, originals: Originals) -> Merged:
    """The blocks of a new text, with the old nodes where their lines are the same."""
    writer, reader = MarkdownWriter(originals), MarkdownReader(originals)
    parts = writer.parts(old)
    groups = _with_blank_lines(old, parts)
    lead = list(old[: len(old) - sum(map(len, groups))])
    known = _inline_nodes(old, writer)
    texts = [part for part in parts if part]
    new_lines = markdown.strip("\n").split("\n") if markdown.strip() else []
    segments = _segments(texts, new_lines)

    def read(text: str) -> list[Node]:
        return [_with_known(one, known, writer) for one in reader.blocks(text)]

    def normal(text: str) -> str:
        return writer.blocks(reader.blocks(text))

    merged = _assemble(lead, groups, segments, read)
    # Lines mean something else where what is around them changed, as in a code block: then nothing is taken over.
    written = writer.blocks(merged.blocks)
    if written == markdown.strip("\n") or normal(written) == normal(markdown):
        return merged
    return _assemble(lead, groups, [markdown], read)


def _segments(texts: Sequence[str], lines: Sequence[str]) -> list[int | str]:
    """The new text as the numbers of old blocks that it still has, and the text between them."""
    chunks, starts = _chunks(texts, lines)
    # In a long text, frequent blocks only extend a match: to compare them all takes seconds.
    matcher = SequenceMatcher(None, texts, chunks, autojunk=True)
    segments: list[int | str] = []
    place = 0
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            start = starts[block.b + offset]
            if between := "\n".join(lines[place:start]).strip("\n"):
                segments.append(between)
            segments.append(block.a + offset)
            place = start + len(texts[block.a + offset].split("\n"))
    if rest := "\n".join(lines[place:]).strip("\n"):
        segments.append(rest)
    return segments


def _chunks(texts: Sequence[str], lines: Sequence[str]) -> tuple[list[str], list[int]]:
    """The new text in chunks: an old block where its lines stand alone, and single lines elsewhere."""
    by_first: dict[str, list[str]] = {}
    for text in sorted(set(texts), key=len, reverse=True):
        by_first.setdefault(text.split("\n")[0], []).append(text)
    chunks: list[str] = []
    starts: list[int] = []
    index = 0
    while index < len(lines):
        found = None
        if index == 0 or not lines[index - 1].strip():
            for text in by_first.get(lines[index], ()):
                end = index + text.count("\n") + 1
                alone = end >= len(lines) or not lines[end].strip()
                if alone and "\n".join(lines[index:end]) == text:
                    found = text
                    break
        if lines[index].strip():  # blocks that follow each other do so in the chunks, too
            chunks.append(found if found is not None else lines[index])
            starts.append(index)
        index += found.count("\n") + 1 if found is not None else 1
    return chunks, starts


def _assemble(
    lead: Sequence[Node],
    groups: Sequence[Sequence[Node]],
    segments: Sequence[int | str],
    read: Callable[[str], list[Node]],
) -> Merged:
    """Old blocks and new ones, in the order of the segments. A new block takes over what Markdown does not show."""
    kept = {segment for segment in segments if isinstance(segment, int)}
    blocks = list(lead)
    changed = added = 0
    place = 0  # the first old block that nothing stands for yet
    for segment in segments:
        if isinstance(segment, int):
            blocks += groups[segment]
            place = segment + 1
            continue
        gone = iter(range(place, min((n for n in kept if n >= place), default=len(groups))))
        for fresh in read(segment):
            before = next(gone, None)
            if before is None:
                blocks.append(fresh)
                added += 1
            else:
                blocks += [with_hidden_attributes(groups[before][0], fresh), *groups[before][1:]]
                changed += 1
                place = before + 1
    return Merged(blocks, len(kept), changed, added, len(groups) - len(kept) - changed)


def missing_objects(old: Sequence[Node], new: Sequence[Node], originals: Originals) -> list[str]:
    """The placeholders of the old blocks that the new ones no longer have."""
    writer = MarkdownWriter(originals)
    after = {found[4] for found in PLACEHOLDER.finditer(writer.blocks(new))}
    before = PLACEHOLDER.finditer(writer.blocks(old))
    return list(dict.fromkeys(found[0] for found in before if not found[1] and found[4] not in after))


def refuse_missing(missing: Sequence[str]) -> None:
    """Macros, images and the like are removed only on request."""
    if missing:
        raise Conflict(
            f"The new text has no place for {', '.join(missing)}. Nothing was written. Put these placeholders where "
            "they belong, or set remove_objects if the user wants them gone."
        )


def with_hidden_attributes(old: Node, new: Node) -> Node:
    """A changed block with the attributes and marks that Markdown does not show: widths, alignment, ids."""
    if old["type"] != new["type"]:
        return new
    node = dict(new)
    known = {**attributes(old), **attributes(new)}
    if old["type"] in ("taskItem", "taskList"):
        known["localId"] = attributes(old).get("localId", known.get("localId"))
    if known:
        node["attrs"] = known
    if old["type"] != "text" and marks(old):
        node["marks"] = marks(old)
    if "tag" in old and attributes(old).get("level") == attributes(new).get("level"):
        node["tag"] = old["tag"]
    before, after = children(old), children(new)
    if len(before) == len(after) and old["type"] not in _TEXT_BLOCKS:
        node["content"] = [with_hidden_attributes(one, other) for one, other in zip(before, after, strict=True)]
    return node


_TEXT_BLOCKS = frozenset({"paragraph", "heading", "taskItem", "codeBlock"})


def _with_blank_lines(old: Sequence[Node], parts: Sequence[str]) -> list[list[Node]]:
    """Blocks, each with the empty ones after it: Markdown does not show them, so they go with the block before."""
    groups: list[list[Node]] = []
    for node, part in zip(old, parts, strict=True):
        if part:
            groups.append([node])
        elif groups:
            groups[-1].append(node)
    return groups


def _inline_nodes(blocks: Sequence[Node], writer: MarkdownWriter) -> dict[str, Node]:
    """Mentions, emojis and cards by their Markdown: their nodes have more than it shows."""
    return {writer.inline([node]): node for block in blocks for node in _walk(block) if node["type"] in _INLINE}


_INLINE = frozenset({"mention", "emoji", "inlineCard"})


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for one in children(node):
        yield from _walk(one)


def _with_known(node: Node, known: dict[str, Node], writer: MarkdownWriter) -> Node:
    if node["type"] in _INLINE:
        return known.get(writer.inline([node]), node)
    if "content" not in node:
        return node
    return {**node, "content": [_with_known(one, known, writer) for one in children(node)]}
