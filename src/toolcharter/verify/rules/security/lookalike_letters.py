import re
import unicodedata
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "FULLWIDTH", "MATHEMATICAL")
_HARMLESS = frozenset("µμΩΔπσλαβγθ")
"""Signs of science, which stand beside Latin letters in honest texts."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for text in tool.texts.all:
        if text.kind == "value" or text.text.isascii():
            continue
        for match in _WORD.finditer(text.text):
            if not match[0].isascii() and (strange := _strange(match[0], named=text.kind == "name")):
                letter = f"{unicodedata.name(strange, 'a letter').lower()}, U+{ord(strange):04X}"
                yield Problem(f"{match[0]!r} has {letter}, among Latin letters", text.path)
                break


def _strange(word: str, *, named: bool) -> str | None:
    """The first letter that is not Latin in a word that otherwise is."""
    scripts = [_script(letter) for letter in word]
    if "LATIN" not in scripts:
        return None
    strange = [c for c, script in zip(word, scripts, strict=True) if script not in ("LATIN", "")]
    # A unit or a formula in prose is no disguise; in a name there is none.
    return next((c for c in strange if named or c not in _HARMLESS), None)


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
    what="A word mixes Latin letters with letters of another alphabet that look like them.",
    why="A tool named with a Cyrillic letter looks like the one that the user trusts, and is another.",
    fix="Write the word in one alphabet.",
    bad=[{"name": "list_n\u043etes"}],
    good=[{"name": "list_notes", "description": "List the notes of a folder: заметки, in μm."}],
    check=check,
)
