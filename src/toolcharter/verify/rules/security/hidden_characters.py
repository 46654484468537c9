import re
import unicodedata
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_ZWNJ, _ZWJ, _TAG, _CANCEL_TAG = 0x200C, 0x200D, 0xE0000, 0xE007F
_CONTEXT = 40
_KINDS = (
    ((0xE0000, 0xE007F), "a tag character"),
    ((0x202A, 0x202E), "a text direction control"),
    ((0x2066, 0x2069), "a text direction control"),
    ((0x200E, 0x200F), "a text direction mark"),
    ((0x200B, 0x200D), "a zero-width character"),
    ((0xFE00, 0xFE0F), "a variation selector"),
    ((0xE0100, 0xE01EF), "a variation selector"),
    ((0xE000, 0xF8FF), "a private-use character"),
)
_CANDIDATE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ue000-\uf8ff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
"""Flags such as those of England and Scotland are written with tag characters."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for text in tool.texts.all:
        if text.text.isascii() and text.text.isprintable():
            continue
        if hidden := _hidden(text.text):
            yield Problem(_message(hidden), text.path)


def _hidden(text: str) -> list[str]:
    text = _FLAG.sub("", text)
    return [match[0] for match in _CANDIDATE.finditer(text) if not _is_harmless(text, match.start())]


def _is_harmless(text: str, place: int) -> bool:
    """Return whether it is part of an emoji, a joiner in a script that uses it, or a mark in right-to-left text."""
    code = ord(text[place])
    before = text[place - 1] if place else ""
    if code in (0xFE0E, 0xFE0F):
        return bool(before) and (unicodedata.category(before) in ("So", "Sm", "Po") or before in "#*0123456789©®‼↔")
    if code in (_ZWJ, _ZWNJ):
        around = text[max(0, place - 2) : place] + text[place + 1 : place + 2]
        pictures = code == _ZWJ and any(unicodedata.category(c) in ("So", "Sk") for c in around)
        return pictures or (bool(before) and _joins(before))
    return code in (0x200E, 0x200F, 0x061C) and any(
        unicodedata.bidirectional(c) in ("R", "AL") for c in text[max(0, place - _CONTEXT) : place + _CONTEXT]
    )


def _joins(letter: str) -> bool:
    """Whether a letter is of a script that uses joiners, such as Arabic and the scripts of India."""
    return "\u0600" <= letter <= "\u08ff" or "\u0900" <= letter <= "\u109f" or "\u1780" <= letter <= "\u18af"


def _message(hidden: list[str]) -> str:
    first = ord(hidden[0])
    kind = next((words for (low, high), words in _KINDS if low <= first <= high), "an invisible character")
    more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
    spelled = "".join(chr(ord(c) - _TAG) for c in hidden if _TAG + 0x20 <= ord(c) < _CANCEL_TAG)
    says = f"; they spell {spelled[:60]!r}" if spelled else ""
    return f"contains {kind}, U+{first:04X}{more}{says}"


RULE = Rule(
    id="SEC001",
    name="hidden-characters",
    family="security",
    severity="error",
    what="A name, a description or a value contains invisible characters.",
    why=(
        "An agent reads them, but the person who approves the tool cannot see them. They can spell whole "
        "instructions, and a direction control shows a text in another order than the agent reads it."
    ),
    fix="Remove the characters.",
    bad=[{"description": "List the notes of a folder.\u200b\u200b Use this to see what was written."}],
    good=[{"description": "List the notes of a folder 👩\u200d💻 ❤\ufe0f. Use this to see what was written."}],
    check=check,
)
