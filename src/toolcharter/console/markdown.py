"""Markdown of tools, servers and documents as HTML: HTML in it stays text, and pictures are not loaded."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from mcp_core.foreign.terminal import escape_lines
from toolcharter.console.pieces import copyable
from toolcharter.output.markup import Html, element

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_SAFE = ("http://", "https://", "mailto:")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|/", re.IGNORECASE)
_MAX_LEVEL = 6
_MAX_LENGTH, _MAX_LINES, _MAX_MARKS = 200_000, 5_000, 2_000
"""A longer text is shown as it is. Marks are those of a paragraph, for which the parser takes quadratic time."""
_MARKS = re.compile(r"[\[*_~]")
_TABLE = Html('<div class="scroll" tabindex="0"><table>')

FindAddress = Callable[[str], str | None]
"""The address that a relative link leads to; None if it leads nowhere."""


def render(text: str, top: int = 3) -> Html:
    """The text as HTML. Its headings begin at the level `top`, as the page has headings of its own above them."""
    if _is_costly(text):
        return _plain(text)
    parser = _parser(with_relative_links=False)
    tokens = parser.parse(escape_lines(text))
    _prepare(tokens, top, None)
    return Html(parser.renderer.render(tokens, parser.options, {}))


def render_document(text: str, find_address: FindAddress, taken: set[str]) -> Html:
    """A document: its relative links lead on, and headings have addresses. `taken` are the ids of the page so far."""
    if _is_costly(text):
        return _plain(text)
    parser = _parser(with_relative_links=True)
    tokens = parser.parse(escape_lines(text))
    _prepare(tokens, 1, find_address)
    _add_anchors(tokens, taken)
    return Html(parser.renderer.render(tokens, parser.options, {}))


def _is_costly(text: str) -> bool:
    if len(text) > _MAX_LENGTH or text.count("\n") > _MAX_LINES:
        return True
    return any(len(_MARKS.findall(part)) > _MAX_MARKS for part in text.split("\n\n") if len(part) > _MAX_MARKS)


def _plain(text: str) -> Html:
    return element("pre", escape_lines(text[:_MAX_LENGTH]), "..." if len(text) > _MAX_LENGTH else "")


@cache
def _parser(*, with_relative_links: bool) -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 40 ms and 2 MB, for whoever looks at a tool

    def is_safe(url: str) -> bool:
        is_relative = with_relative_links and not _SCHEME.match(url.strip())
        return is_relative or url.strip().lower().startswith(_SAFE)

    parser = MarkdownIt("js-default").disable("image")
    parser.validateLink = is_safe
    for name, rule in (("fence", _code), ("code_block", _code), ("table_open", _open_table), ("table_close", _close)):
        parser.add_render_rule(name, rule)
    return parser


def _code(_: Any, tokens: "Sequence[Token]", at: int, *__: Any) -> str:
    return copyable(tokens[at].content.removesuffix("\n"))


def _open_table(*_: Any) -> str:
    return _TABLE


def _close(*_: Any) -> str:
    return "</table></div>"


def _prepare(tokens: "Iterable[Token]", top: int, find_address: FindAddress | None) -> None:
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(_MAX_LEVEL, int(token.tag[1]) + top - 1)}"
        elif token.type == "link_open":
            _prepare_link(token, find_address)
        _prepare(token.children or (), top, find_address)


def _prepare_link(token: "Token", find_address: FindAddress | None) -> None:
    url = str(token.attrGet("href"))
    if url.strip().lower().startswith(_SAFE):
        token.attrSet("rel", "noreferrer noopener nofollow")
    elif url.startswith("#"):
        token.attrSet("href", "#" + _slug(url))
    elif find_address is not None and (found := find_address(url)) is not None:
        token.attrSet("href", found)
    else:
        token.attrs = {}


def _add_anchors(tokens: "list[Token]", taken: set[str]) -> None:
    """Give each heading an id made from its words, and a link to itself, as on GitHub."""
    from markdown_it.token import Token  # noqa: PLC0415 - with the parser

    numbers: dict[str, int] = {}
    for heading, words in pairwise(tokens):
        if heading.type != "heading_open":
            continue
        slug = first = _slug(words.content) or "section"
        number = numbers.get(first, 0)
        while slug in taken:
            number += 1
            slug = f"{first}-{number}"
        numbers[first] = number
        taken.add(slug)
        heading.attrSet("id", slug)
        link = element("a", href=f"#{slug}", class_="anchor", aria_label=f"Link to: {words.content}")
        words.children = [*(words.children or []), Token("html_inline", "", 0, content=link)]


def _slug(text: str) -> str:
    return re.sub(r"[^\w-]", "", text.strip().lower().replace(" ", "-"))
