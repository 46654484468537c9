from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.description.long_description import VERY_LONG


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if len(tool.description) > VERY_LONG:
        yield Problem(f"has {len(tool.description):,} characters, more than {VERY_LONG:,}", "description")


RULE = Rule(
    id="DSC005",
    name="very-long-description",
    family="description",
    severity="warning",
    what="A description over 2,000 characters.",
    why=(
        "It is a manual that costs tokens in every request and distracts from the other tools. "
        "Some clients truncate it."
    ),
    fix="Keep what an agent needs to choose and call the tool. Offer the manual as a resource.",
    bad=[{"description": "List the notes of a folder. Use this to read them. Returns id and title. " * 30}],
    good=[
        {"description": "List the notes of a folder. Use this to see what was written. Returns id and title of each."}
    ],
    check=check,
)
