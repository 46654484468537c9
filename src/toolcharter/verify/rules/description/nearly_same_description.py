from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.similar import near_duplicates


def check(server: Server) -> Iterable[Problem]:
    for pair in near_duplicates(server):
        if pair.similarity < 1:
            yield Problem(f"is {pair.similarity:.0%} the same as that of {pair.a!r}", "description", tool=pair.b)


_LONG = (
    "in a folder of the notebook. Use this when the user wants to see what they wrote down some time ago. "
    "Returns the id, the title and the first line of each of them."
)

RULE = Rule(
    id="DSC027",
    name="nearly-same-description",
    family="description",
    severity="note",
    what="Two tools whose descriptions are the same but for a few words: 80 % of words and neighbouring pairs or more.",
    why="The few words that matter drown in those that do not. Agents, and search over tools, mix the two up.",
    fix="Begin each description with what sets it apart, and say when to use which.",
    bad=[
        {"name": "list_notes", "description": f"List notes {_LONG}"},
        {"name": "list_drafts", "description": f"List drafts {_LONG}"},
    ],
    good=[
        {"name": "list_notes", "description": f"List notes {_LONG}"},
        {"name": "list_drafts", "description": "List what was begun and not finished. Returns id and title of each."},
    ],
    check_server=check,
)
