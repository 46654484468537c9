"""The searched parts of a tool: words of its server, name, description and arguments, and tokens for its meaning."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.bm25 import tokenize
from toolcharter.evaluate.tool_text import parameter_texts, split_name

_FORMAT = "1"
"""To be raised when words or tokens are made in another way, so that what was saved is made again."""


class SearchedTool(NamedTuple):
    """A tool as agents see it, the server that it belongs to, and its name there."""

    server: str
    own_name: str
    tool: ListedTool


class Analysis(NamedTuple):
    """The words of a tool by field, and the tokens of its text."""

    words: Mapping[str, Sequence[str]]
    tokens: Sequence[int] = ()


def field_texts(one: SearchedTool) -> dict[str, str]:
    """The texts of a tool by field."""
    return {
        "server": split_name(one.server),
        "name": f"{split_name(one.own_name)} {one.tool.title}",
        "description": one.tool.description,
        "arguments": "\n".join(parameter_texts(one.tool.input_schema)),
    }


def digest(texts: Mapping[str, str]) -> str:
    """The key of an analysis: the same for the same texts."""
    content = json.dumps([_FORMAT, *texts.values()])
    return hashlib.sha256(content.encode()).hexdigest()


def words_of(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """The words of each field."""
    return {name: tokenize(text) for name, text in texts.items()}


def meaning_text(texts: Mapping[str, str]) -> str:
    """The text of which the meaning is compared. Arguments show little of what a tool is for."""
    return "\n".join(texts[name] for name in ("server", "name", "description"))
