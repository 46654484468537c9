"""Gaps in a text: `{{c1::the answer::a hint}}`, one inside the other if need be.

A gap with several numbers, `{{c1,2::both}}`, is empty on the card of each.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(r"\{\{c([0-9]{1,5}(?:,[0-9]{1,5}){0,99})::|\}\}")
_OCCLUSION = "image-occlusion:"
_DEEPEST = 10
"""Gaps further inside than this are text, as in Anki."""
_HIGHEST = 500
"""A gap with a higher number makes no card."""

_NONE = -1
"""The number of no gap."""


@dataclass(slots=True)
class _Gap:
    numbers: frozenset[int]
    written: str
    parts: list["str | _Gap"] = field(default_factory=list["str | _Gap"])
    hint: str = ""

    def add(self, text: str) -> None:
        head, separator, tail = text.partition("::")
        if separator:
            self.hint = tail
        self.parts.append(head)


def numbers(text: str) -> set[int]:
    """The numbers of the gaps."""
    return {number for gap in _gaps(_read(text)) for number in gap.numbers if 0 < number <= _HIGHEST}


def shown(text: str, number: int, *, hidden: bool) -> str:
    """The text with the gaps of that number open or, if `hidden`, empty. Nothing, if there are none."""
    parts = _read(text)
    if not any(number in gap.numbers for gap in _gaps(parts)):
        return ""
    return "".join(_show(parts, number if hidden else _NONE))


def only(text: str, number: int) -> str:
    """What belongs into the gaps of that number."""
    return ", ".join("".join(_show(gap.parts, _NONE)) for gap in _gaps(_read(text)) if number in gap.numbers)


def revealed(text: str) -> str:
    """The text with all gaps filled in."""
    return "".join(_show(_read(text), _NONE)) if "{{c" in text else text


def _gaps(parts: list[str | _Gap]) -> Iterator[_Gap]:
    for part in parts:
        if isinstance(part, _Gap):
            yield part
            yield from _gaps(part.parts)


def _show(parts: list[str | _Gap], hidden: int) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield "" if part.startswith(_OCCLUSION) else part
        elif hidden in part.numbers:
            yield f"[{part.hint or '...'}]"
        else:
            yield from _show(part.parts, hidden)


def _read(text: str) -> list[str | _Gap]:
    """The text in parts. A gap without an end is text."""
    top = _Gap(frozenset(), "")
    opened = [top]
    place = 0
    for match in _TOKEN.finditer(text):
        _add(opened, text[place : match.start()])
        place = match.end()
        if match[1] and len(opened) <= _DEEPEST:
            opened.append(_Gap(frozenset(map(int, match[1].split(","))), match[0]))
        elif not match[1] and len(opened) > 1:
            done = opened.pop()
            opened[-1].parts.append(done)
        else:
            _add(opened, match[0])
    _add(opened, text[place:])
    while len(opened) > 1:
        unfinished = opened.pop()
        hint = [f"::{unfinished.hint}"] if unfinished.hint else []
        opened[-1].parts += [unfinished.written, *unfinished.parts, *hint]
    return top.parts


def _add(opened: list[_Gap], text: str) -> None:
    if not text:
        return
    if len(opened) > 1:
        opened[-1].add(text)
    else:
        opened[-1].parts.append(text)
