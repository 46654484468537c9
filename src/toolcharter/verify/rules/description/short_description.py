from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.description.tiny_description import TINY

SHORT = 50


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if TINY <= tool.length < SHORT and not server.is_self_evident(tool):
        yield Problem(
            f"has {tool.length} characters; what it does, when to use it and what it returns need at least {SHORT}",
            "description",
        )


RULE = Rule(
    id="DSC003",
    name="short-description",
    family="description",
    severity="note",
    supersedes=("DSC007", "DSC008", "DSC009", "DSC010", "DSC011", "DSC012", "DSC013"),
    what="A description under 50 characters, unless the tool is self-evident: it says an action that takes nothing "
    "away, and has at most two arguments, or describes them all. "
    "A character of a script such as Chinese counts as three.",
    why=(
        "Nearly half of all public tools have such a description. "
        "It has room for what the tool does, but not for when to use it or what it returns."
    ),
    fix="Add when to use the tool, and what it returns.",
    bad=[{"name": "delete_note", "description": "Delete a note of a folder."}],
    good=[
        {"description": "List the notes of a folder. Use this to see what was written. Returns id and title of each."}
    ],
    check=check,
)
