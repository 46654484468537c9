"""Cloze deletions, here called gaps: `{{c1::the answer::a hint}}`. They may be nested.

A gap with several numbers, `{{c1,2::both}}`, is hidden on the card of each.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(r"\{\{c([0-9]{1,5}(?:,[0-9]{1,5}){0,99})::|\}\}")
_OCCLUSION = "image-occlusion:"
_SHARE = re.compile(r"[01]?\.?[0-9]{1,9}")
_MAX_DEPTH = 10
"""Gaps nested deeper are text, as in Anki."""
_MAX_NUMBER = 500
"""A gap with a higher number makes no card."""

_NO_NUMBER = -1
"""No gap has this number."""


@dataclass(slots=True)
class _Gap:
    numbers: frozenset[int]
    source: str
    parts: list["str | _Gap"] = field(default_factory=list["str | _Gap"])
    hint: str = ""

    def add(self, text: str) -> None:
        head, separator, tail = text.partition("::")
        if separator:
            self.hint = tail
        self.parts.append(head)


def numbers(text: str) -> set[int]:
    """The numbers of the gaps."""
    return {number for gap in _gaps(_parse(text)) for number in gap.numbers if 0 < number <= _MAX_NUMBER}


def render(text: str, number: int, *, hide: bool) -> str:
    """The text with the gaps of that number filled in, or hidden. Empty if it has no such gap."""
    parts = _parse(text)
    if not any(number in gap.numbers for gap in _gaps(parts)):
        return ""
    return "".join(_render(parts, number if hide else _NO_NUMBER))


def answers(text: str, number: int) -> str:
    """The answers of the gaps with that number."""
    return ", ".join("".join(_render(gap.parts, _NO_NUMBER)) for gap in _gaps(_parse(text)) if number in gap.numbers)


def reveal(text: str) -> str:
    """The text with all gaps filled in."""
    return "".join(_render(_parse(text), _NO_NUMBER)) if "{{c" in text else text


def _gaps(parts: list[str | _Gap]) -> Iterator[_Gap]:
    for part in parts:
        if isinstance(part, _Gap):
            yield part
            yield from _gaps(part.parts)


def _render(parts: list[str | _Gap], hidden: int) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield "" if part.startswith(_OCCLUSION) else part
        elif hidden in part.numbers:
            yield f"[{part.hint or _hidden_area(part) or '...'}]"
        else:
            yield from _render(part.parts, hidden)


def _hidden_area(gap: _Gap) -> str:
    """Which part of an image a gap hides, in words; empty for a gap in a text.

    Anki writes `image-occlusion:rect:left=.1:top=.25:width=.3:height=.05`, with shares of the image.
    """
    source = gap.parts[0] if gap.parts else ""
    if not isinstance(source, str) or not source.startswith(_OCCLUSION):
        return ""
    shape, *properties = source.removeprefix(_OCCLUSION).split(":")
    shares = {name: _share(value) for name, _, value in (text.partition("=") for text in properties)}
    if (left := shares.get("left")) is None or (top := shares.get("top")) is None:
        return "a hidden part of the image"
    width, height = shares.get("width") or 0.0, shares.get("height") or 0.0
    if shape == "ellipse":
        width, height = 2 * (shares.get("rx") or 0.0), 2 * (shares.get("ry") or 0.0)
    size = f", {width:.0%} wide, {height:.0%} high" if width and height else ""
    return f"a hidden part of the image: {left:.0%} from the left, {top:.0%} from the top{size}"


def _share(text: str) -> float | None:
    """A number from 0 to 1."""
    return float(text) if _SHARE.fullmatch(text) else None


def _parse(text: str) -> list[str | _Gap]:
    """The parts of the text. An unclosed gap is text."""
    top = _Gap(frozenset(), "")
    opened = [top]
    position = 0
    for match in _TOKEN.finditer(text):
        _add(opened, text[position : match.start()])
        position = match.end()
        if match[1] and len(opened) <= _MAX_DEPTH:
            opened.append(_Gap(frozenset(map(int, match[1].split(","))), match[0]))
        elif not match[1] and len(opened) > 1:
            closed = opened.pop()
            opened[-1].parts.append(closed)
        else:
            _add(opened, match[0])
    _add(opened, text[position:])
    while len(opened) > 1:
        unclosed = opened.pop()
        hint = [f"::{unclosed.hint}"] if unclosed.hint else []
        opened[-1].parts += [unclosed.source, *unclosed.parts, *hint]
    return top.parts


def _add(opened: list[_Gap], text: str) -> None:
    if not text:
        return
    if len(opened) > 1:
        opened[-1].add(text)
    else:
        opened[-1].parts.append(text)
