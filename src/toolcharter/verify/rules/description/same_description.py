from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.similar import near_duplicates


def check(server: Server) -> Iterable[Problem]:
    for pair in near_duplicates(server, least=1):
        yield Problem(f"is the same as the description of {pair.a!r}", "description", tool=pair.b)


RULE = Rule(
    id="DSC026",
    name="same-description",
    family="description",
    severity="warning",
    what="Two tools with the same description.",
    why="An agent can choose between them only by the name.",
    fix="Say in each description what is different, and when to use which.",
    bad=[{"name": "list_notes"}, {"name": "search_notes"}],
    good=[
        {"name": "list_notes"},
        {"name": "search_notes", "description": "Find notes by a word in them. Returns the best ten, with their ids."},
    ],
    check_server=check,
)
