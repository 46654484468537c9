import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_WHOLE = re.compile(
    r"\W*(?:todo|tbd|tba|fixme|wip|xxx+|n/?a|none|null|undefined|placeholder|description|desc|test|testing|foo|bar|"
    r"no (?:description|docs?|documentation)(?: (?:provided|available|yet|found|given))?|(?:a |my )?tool|"
    r"(?:tool )?description (?:goes )?here|coming soon)\W*",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\blorem ipsum\b|\b(?:TODO|FIXME|TBD)\b\s*[:(]|\bdescription (?:goes )?here\b|"
    r"\b(?:insert|your|add (?:a|your)) (?:tool )?description\b|\bno description (?:provided|available)\b",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    found = _WHOLE.fullmatch(tool.description[:80]) or _PART.search(tool.prose)
    if tool.description and found:
        yield Problem(f"{found[0].strip()[:40]!r} is a placeholder", "description")


RULE = Rule(
    id="DSC018",
    name="placeholder-description",
    family="description",
    severity="error",
    what="A description that is only a placeholder: TODO, lorem ipsum, description here, No description provided.",
    why="The agent learns nothing about the tool.",
    fix="Write the description, or remove the tool from the list.",
    bad=[{"description": "TODO: describe this tool once the folders work as they should."}],
    good=[
        {"description": "List the entries of a todo list. Use this to see what is to be done. Returns their titles."}
    ],
    check=check,
)
