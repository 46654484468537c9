"""Markdown of tools and servers as HTML: HTML in it stays text, and pictures are not loaded."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from toolcharter.console.markup import Html
from toolcharter.terminal import escape_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_SAFE = ("http://", "https://", "mailto:")
_LOWEST = 6


def render(text: str, top: int = 3) -> Html:
    """The text as HTML. Its headings begin at the level `top`, as the page has headings of its own above them."""
    parser = _parser()
    tokens = parser.parse(escape_lines(text))
    _prepare(tokens, top)
    return Html(parser.renderer.render(tokens, parser.options, {}))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 40 ms and 2 MB, for whoever looks at a tool

    parser = MarkdownIt("js-default").disable("image")
    parser.validateLink = lambda url: url.strip().lower().startswith(_SAFE)
    return parser


def _prepare(tokens: "Iterable[Token]", top: int) -> None:
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(_LOWEST, int(token.tag[1]) + top - 1)}"
        elif token.type == "link_open":
            token.attrSet("rel", "noreferrer noopener nofollow")
        _prepare(token.children or (), top)
