import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import CLIPPED_WORDS, KNOWN_ABBREVIATIONS, VERBS

_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{3,6}")


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    used = frozenset(tool.words)
    for word in server.unprefixed_words(tool):
        short = word in CLIPPED_WORDS or (_CONSONANTS.fullmatch(word) and word not in KNOWN_ABBREVIATIONS)
        if short and word not in VERBS and word not in used:
            yield Problem(f"{word!r} in {tool.name!r} is an abbreviation that is not explained", "name")


RULE = Rule(
    id="NAM007",
    name="unknown-abbreviation",
    family="naming",
    severity="note",
    what="A name with an uncommon abbreviation that the description does not use.",
    why="A model guesses what `cstmr` means, and a search for `customer` does not find the tool.",
    fix="Write the whole word.",
    bad=[{"name": "list_cstmr_nts"}],
    good=[{"name": "list_customer_notes"}, {"name": "get_html"}],
    check=check,
)
