"""HTML as values. Text is escaped wherever it is put; only what `element` and its like made is not escaped again."""

import html
from collections.abc import Iterable

from mcp_core.foreign.terminal import escape_invisible

_SPACES = "\n\t\u00a0\u2009\u202f"
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr"})

Attribute = str | int | bool | None
Child = str | int | Iterable[str] | None


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(text: str) -> str:
    """Text as HTML. Control characters and those that change the direction of text become visible."""
    return text if isinstance(text, Html) else html.escape(escape_invisible(text, _SPACES))


def element(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element. `class_` stands for `class` and `aria_label` for `aria-label`; None and False leave one out."""
    opening = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Html(opening if name in _VOID else f"{opening}{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """Several pieces, one after the other."""
    return Html("".join(_child(child) for child in children))


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, str):
        return escape(child)
    if isinstance(child, int):
        return str(child)
    return "".join(escape(one) for one in child)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
