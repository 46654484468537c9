from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.similar import near_duplicates


def check(server: Server) -> Iterable[Problem]:
    for pair in near_duplicates(server):
        if pair.similarity < 1:
            yield Problem(
                f"is {pair.similarity:.0%} the same as the description of {pair.a!r}", "description", tool=pair.b
            )


_COMMON = (
    "in a folder of the notebook. Use this when the user wants to see what they wrote down some time ago. "
    "Returns the id, the title and the first line of each of them."
)

RULE = Rule(
    id="DSC027",
    name="nearly-same-description",
    family="description",
    severity="note",
    what="Two tools whose descriptions differ in a few words only: 80 % of words and pairs of words are the same.",
    why="The words that matter are hard to find. Agents, and search over tools, confuse the two.",
    fix="Begin each description with what is different, and say when to use which.",
    bad=[
        {"name": "list_notes", "description": f"List notes {_COMMON}"},
        {"name": "list_drafts", "description": f"List drafts {_COMMON}"},
    ],
    good=[
        {"name": "list_notes", "description": f"List notes {_COMMON}"},
        {"name": "list_drafts", "description": "List what was begun and not finished. Returns id and title of each."},
    ],
    check_server=check,
)
