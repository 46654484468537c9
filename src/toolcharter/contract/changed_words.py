"""Shows which words of a text changed, as `git diff --word-diff` does."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_CONTEXT = 4
"""How many unchanged words are shown on each side of a change."""
_MAX_WORDS = 1_000
"""Longer texts are shown as replaced: to compare them word by word takes too long."""
_MAX_PIECE = 600
"""How many characters of one change are shown."""
_MARK = re.compile(r"\[-|-\]|\{\+|\+\}")


def changed_words(old: str, new: str) -> str:
    """The changed words, with a few around them: `Greet [-somebody-] {+a person+} by`."""
    before, after = _without_marks(old).split(), _without_marks(new).split()
    if before == after:
        return "only white space"
    if max(len(before), len(after)) > _MAX_WORDS:
        return " ".join(_replaced(before, after))
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    pieces: list[str] = []
    for number, (kind, start, end, new_start, new_end) in enumerate(steps):
        if kind == "equal":
            pieces += _around(before[start:end], is_first=number == 0, is_last=number == len(steps) - 1)
        else:
            pieces += _replaced(before[start:end], after[new_start:new_end])
    return " ".join(pieces)


def _without_marks(text: str) -> str:
    """The text without what marks a change, so that no description can pass off new words as old ones."""
    return _MARK.sub(lambda mark: " ".join(mark[0]), text)


def _replaced(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    if before:
        yield f"[-{_shortened(before)}-]"
    if after:
        yield f"{{+{_shortened(after)}+}}"


def _shortened(words: Sequence[str]) -> str:
    text = " ".join(words)
    return text if len(text) <= _MAX_PIECE else f"{text[:_MAX_PIECE]}... ({len(text) - _MAX_PIECE:,} more characters)"


def _around(words: Sequence[str], *, is_first: bool, is_last: bool) -> Sequence[str]:
    """The first and the last of some unchanged words."""
    before, after = (0 if is_first else _CONTEXT), (0 if is_last else _CONTEXT)
    if len(words) <= before + after + 1:
        return words
    return [*words[:before], "...", *words[len(words) - after :]]
