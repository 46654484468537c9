import re
import unicodedata
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "FULLWIDTH", "MATHEMATICAL")
_HARMLESS = frozenset("µμΩΔπσλαβγθ")
"""Scientific symbols, which are used beside Latin letters."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for text in tool.texts.all:
        if text.kind == "value" or text.text.isascii():
            continue
        for match in _WORD.finditer(text.text):
            if not match[0].isascii() and (foreign := _foreign_letter(match[0], named=text.kind == "name")):
                letter = f"{unicodedata.name(foreign, 'a letter').lower()}, U+{ord(foreign):04X}"
                yield Problem(f"{match[0]!r} contains {letter}, among Latin letters", text.path)
                break


def _foreign_letter(word: str, *, named: bool) -> str | None:
    """The first letter of another alphabet in a word with Latin letters."""
    scripts = [_script(letter) for letter in word]
    if "LATIN" not in scripts:
        return None
    foreign = [c for c, script in zip(word, scripts, strict=True) if script not in ("LATIN", "")]
    # In prose it may be a unit or a formula, but not in a name.
    return next((c for c in foreign if named or c not in _HARMLESS), None)


def _script(letter: str) -> str:
    if letter.isascii():
        return "LATIN"
    name = unicodedata.name(letter, "")
    return next((script for script in _SCRIPTS if name.startswith(script)), "")


RULE = Rule(
    id="SEC013",
    name="lookalike-letters",
    family="security",
    severity="error",
    what="A word mixes Latin letters with similar letters of another alphabet.",
    why="A name with a Cyrillic letter looks like the name of a trusted tool, but is a different one.",
    fix="Write the word in one alphabet.",
    bad=[{"name": "list_n\u043etes"}],
    good=[{"name": "list_notes", "description": "List the notes of a folder: заметки, in μm."}],
    check=check,
)
