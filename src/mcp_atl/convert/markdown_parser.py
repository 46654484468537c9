"""The tokens of Markdown, in time that grows with the length of the text and not with its square.

markdown-it drops what is nested deeper than its limit, and takes long for some texts that nobody writes. Here, signs
that would nest too deep are words.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.parser_block import RuleFuncBlockType
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

MAX_LIST_DEPTH = 45
"""Lists in lists. The writer writes 40."""
MAX_QUOTE_DEPTH = 5
"""Quotes in quotes. Each reads all lines of its text again."""
MAX_BRACKETS = 6
"""Brackets in brackets, where a link may begin."""
MAX_EMPTY_CELLS = 5_000
"""Cells that the rows of a table lack. They are added, so a short text would become a long one."""

_QUOTES = "quotes"
"""The key of the number of open quotes."""


class _Parsers(NamedTuple):
    blocks: "MarkdownIt"
    inline: "MarkdownIt"


def tokenize(markdown: str) -> "list[Token]":
    """The tokens of the blocks of a text, each with those of its own text."""
    blocks, inline = _parsers()
    environment: dict[str, Any] = {}
    tokens = blocks.parse(markdown, environment)
    special = inline.inline.terminator_re
    for token in tokens:
        if token.type == "inline":
            if special.search(token.content) is None:
                token.children = [_plain(token.content)] if token.content else []
            else:
                token.children = inline.inline.parse(token.content, inline, environment, [])
    return tokens


def _plain(words: str) -> "Token":
    """The result of the inline parser for words without signs, in a tenth of the time."""
    from markdown_it.token import Token  # noqa: PLC0415 - 40 ms, loaded by now

    return Token("text", "", 0, content=words)


@cache
def _parsers() -> _Parsers:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 40 ms, and most calls have no text to read
    from markdown_it.rules_block import blockquote, list_block, table  # noqa: PLC0415 - as above

    options = {"html": False, "maxNesting": 2 * MAX_LIST_DEPTH + MAX_QUOTE_DEPTH + 4}
    blocks = MarkdownIt("commonmark", options).enable("table").disable(["inline", "text_join", "html_block"])
    for name, rule, interrupts in (
        ("table", _bounded_table(table), ["paragraph", "reference"]),
        ("blockquote", _bounded_quote(blockquote), ["paragraph", "reference", "blockquote", "list"]),
        ("list", _bounded_list(list_block), ["paragraph", "reference", "blockquote"]),
    ):
        blocks.block.ruler.at(name, rule, {"alt": interrupts})
    inline = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_BRACKETS}).enable("strikethrough")
    inline.disable(["html_inline"])
    for parser in (blocks, inline):
        parser.normalizeLink = str  # pyright: ignore[reportAttributeAccessIssue] - addresses stay as they are written
    return _Parsers(blocks, inline)


def _bounded_list(rule: "RuleFuncBlockType") -> "RuleFuncBlockType":
    def list_rule(state: "StateBlock", start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - the library's
        return state.level < 2 * MAX_LIST_DEPTH and rule(state, start, end, silent)

    return list_rule


def _bounded_quote(rule: "RuleFuncBlockType") -> "RuleFuncBlockType":
    def quote_rule(state: "StateBlock", start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - the library's
        depth = state.env.get(_QUOTES, 0)
        if depth >= MAX_QUOTE_DEPTH:
            return False
        state.env[_QUOTES] = depth + 1
        try:
            return rule(state, start, end, silent)
        finally:
            state.env[_QUOTES] = depth

    return quote_rule


def _bounded_table(rule: "RuleFuncBlockType") -> "RuleFuncBlockType":
    def table_rule(state: "StateBlock", start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - the library's
        is_table = rule(state, start, end, True)  # noqa: FBT003 - as above
        if silent or not is_table:
            return is_table
        return _empty_cells(state, start, end) <= MAX_EMPTY_CELLS and rule(state, start, end, silent)

    return table_rule


def _empty_cells(state: "StateBlock", start: int, end: int) -> int:
    """About how many cells the rows of a table lack."""
    columns = state.src.count("|", state.bMarks[start], state.eMarks[start])
    missing = 0
    for line in range(start + 2, end):
        if state.isEmpty(line):
            break
        missing += max(0, columns - state.src.count("|", state.bMarks[line], state.eMarks[line]))
    return missing
