from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.description.tiny_description import TINY

SHORT = 50


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if TINY <= tool.length < SHORT:
        yield Problem(
            f"has {tool.length} characters; what it does, when to use it and what it returns need at least {SHORT}",
            "description",
        )


RULE = Rule(
    id="DSC003",
    name="short-description",
    family="description",
    severity="warning",
    what="A description under 50 characters. A character of a script such as Chinese counts as three.",
    why=(
        "Nearly half of all public tools have such a description. "
        "It has room for what the tool does, but not for when to use it or what it returns."
    ),
    fix="Add when to use the tool, and what it returns.",
    bad=[{"description": "List all notes of a folder."}],
    good=[
        {"description": "List the notes of a folder. Use this to see what was written. Returns id and title of each."}
    ],
    check=check,
)
