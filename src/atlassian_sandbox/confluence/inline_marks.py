"""The mark of an inline comment in the text of its page."""

import json
from html import escape
from typing import Any, cast

from atlassian_sandbox.http import JsonObject, Refusal, optional_list
from atlassian_sandbox.model import RichText, StoredPage

MARK = "inlineComment"


def add_mark(page: StoredPage, marker: str, selection: str, properties: JsonObject) -> None:
    """Mark the selection in the current version. Raises Refusal 400 if the page does not have it so often."""
    body = page.current.body
    count = _count(body, selection)
    said = int(properties.get("textSelectionMatchCount") or 1)
    index = int(properties.get("textSelectionMatchIndex") or 0)
    if not selection or count == 0:
        raise Refusal(400, f"The text '{selection}' was not found in the page.")
    if count != said or index >= count:
        raise Refusal(400, f"The text '{selection}' was found {count} times, not {said}. The index was {index}.")
    page.current.body = _marked(body, marker, selection, index)


def _count(body: RichText, selection: str) -> int:
    if body.format == "atlas_doc_format":
        return sum(node["text"].count(selection) for node in _text_nodes(json.loads(body.value)))
    return body.value.count(escape(selection, quote=False))


def _text_nodes(node: JsonObject) -> list[JsonObject]:
    if node["type"] == "text":
        return [node]
    return [found for child in optional_list(node.get("content")) for found in _text_nodes(child)]


def _marked(body: RichText, marker: str, selection: str, index: int) -> RichText:
    if body.format == "atlas_doc_format":
        document = json.loads(body.value)
        _mark_document(document, marker, selection, index)
        return RichText(body.format, json.dumps(document, ensure_ascii=False, separators=(",", ":")))
    wanted = escape(selection, quote=False)
    parts = body.value.split(wanted)
    before, after = wanted.join(parts[: index + 1]), wanted.join(parts[index + 1 :])
    marked = f'<ac:inline-comment-marker ac:ref="{marker}">{wanted}</ac:inline-comment-marker>'
    return RichText(body.format, before + marked + after)


def _mark_document(node: JsonObject, marker: str, selection: str, index: int) -> int:
    """Mark the occurrence with this index; gives the index that is left after the node."""
    content = cast(list[Any], node.get("content") or [])
    for position, child in enumerate(content):
        if child["type"] != "text":
            index = _mark_document(child, marker, selection, index)
        elif index < (count := child["text"].count(selection)):
            if index >= 0:
                content[position : position + 1] = _split(child, marker, selection, index)
            return -1
        else:
            index -= count
        if index < 0:
            return index
    return index


def _split(node: JsonObject, marker: str, selection: str, index: int) -> list[JsonObject]:
    parts = node["text"].split(selection)
    before, after = selection.join(parts[: index + 1]), selection.join(parts[index + 1 :])
    mark = {"type": "annotation", "attrs": {"annotationType": MARK, "id": marker}}
    marked = {**node, "text": selection, "marks": [*optional_list(node.get("marks")), mark]}
    return [each for each in ({**node, "text": before}, marked, {**node, "text": after}) if each["text"]]
