"""Documents in the wiki markup of Jira Data Center."""

from collections.abc import Callable
from typing import cast

from atlassian_sandbox.documents import plain_text
from atlassian_sandbox.http import JsonObject

_MARKS = {"strong": "*", "em": "_", "strike": "-", "underline": "+"}


def to_wiki(document: JsonObject, user_name: Callable[[str], str] = str) -> str:
    return "\n\n".join(_block(node, user_name) for node in cast(list[JsonObject], document["content"]))


def _lines(node: JsonObject, user_name: Callable[[str], str]) -> str:
    return "".join(_inline(child, user_name) for child in cast(list[JsonObject], node.get("content") or []))


def _inline(node: JsonObject, user_name: Callable[[str], str]) -> str:
    if node["type"] == "mention":
        return f"[~{user_name(node['attrs']['id'])}]"
    if node["type"] != "text":
        return plain_text(node)
    result: str = node["text"]
    for mark in cast(list[JsonObject], node.get("marks") or []):
        if mark["type"] == "code":
            result = "{{" + result + "}}"
        elif mark["type"] == "link":
            result = f"[{result}|{mark['attrs']['href']}]"
        else:
            sign = _MARKS.get(mark["type"], "")
            result = f"{sign}{result}{sign}"
    return result


def _block(node: JsonObject, user_name: Callable[[str], str]) -> str:  # noqa: PLR0911 - one case for each node
    content = cast(list[JsonObject], node.get("content") or [])
    match node["type"]:
        case "paragraph":
            return _lines(node, user_name)
        case "heading":
            return f"h{node['attrs']['level']}. {_lines(node, user_name)}"
        case "bulletList" | "orderedList":
            return _list(node, "*" if node["type"] == "bulletList" else "#", user_name)
        case "codeBlock":
            return f"{{code:{node['attrs'].get('language', 'none')}}}\n{plain_text(node)}\n{{code}}"
        case "blockquote":
            return "{quote}" + "\n".join(_block(child, user_name) for child in content) + "{quote}"
        case "panel":
            return "{panel}" + "\n".join(_block(child, user_name) for child in content) + "{panel}"
        case "table":
            return "\n".join(_row(row, user_name) for row in content)
        case "rule":
            return "----"
        case _:
            return plain_text(node)


def _list(node: JsonObject, prefix: str, user_name: Callable[[str], str]) -> str:
    lines: list[str] = []
    for item in cast(list[JsonObject], node["content"]):
        for block in cast(list[JsonObject], item["content"]):
            if block["type"] in ("bulletList", "orderedList"):
                lines.append(_list(block, prefix + ("*" if block["type"] == "bulletList" else "#"), user_name))
            else:
                lines.append(f"{prefix} {_block(block, user_name)}")
    return "\n".join(lines)


def _row(row: JsonObject, user_name: Callable[[str], str]) -> str:
    cells = cast(list[JsonObject], row["content"])
    sign = "||" if cells[0]["type"] == "tableHeader" else "|"
    texts = ["\n".join(_block(block, user_name).strip("*") for block in cell["content"]) for cell in cells]
    return sign + sign.join(texts) + sign
