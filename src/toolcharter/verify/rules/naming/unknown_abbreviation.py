import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import CLIPPED_WORDS, KNOWN_ABBREVIATIONS, VERBS

_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{3,6}")


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    told = frozenset(tool.words)
    for word in server.unprefixed_words(tool):
        short = word in CLIPPED_WORDS or (_CONSONANTS.fullmatch(word) and word not in KNOWN_ABBREVIATIONS)
        if short and word not in VERBS and word not in told:
            yield Problem(f"{word!r} in {tool.name!r} is an abbreviation that is not explained", "name")


RULE = Rule(
    id="NAM007",
    name="unknown-abbreviation",
    family="naming",
    severity="note",
    what="A name with an abbreviation that is not common, and that the description does not use.",
    why="A model guesses what `cstmr` means; people searching for `customer` do not find the tool.",
    fix="Write the word out.",
    bad=[{"name": "list_cstmr_nts"}],
    good=[{"name": "list_customer_notes"}, {"name": "get_html"}],
    check=check,
)
