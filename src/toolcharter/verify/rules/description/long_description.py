from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

LONG = 1_024
VERY_LONG = 2_000


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if LONG < len(tool.description) <= VERY_LONG:
        yield Problem(f"has {len(tool.description):,} characters, more than {LONG:,}", "description")


RULE = Rule(
    id="DSC004",
    name="long-description",
    family="description",
    severity="note",
    what="A description over 1,024 characters.",
    why="It is sent with every request, used or not. Some clients truncate or reject it.",
    fix="Keep what an agent needs to choose and call the tool. Move the rest to the parameters or a resource.",
    bad=[{"description": "List the notes of a folder. Use this to read them. Returns id and title. " * 20}],
    good=[
        {"description": "List the notes of a folder. Use this to see what was written. Returns id and title of each."}
    ],
    check=check,
)
