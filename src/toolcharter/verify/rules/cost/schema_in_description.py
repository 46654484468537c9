from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MIN_LENGTH = 20
"""Shorter descriptions repeat by chance."""
_MIN_COUNT = 2
_JSON = ('"type": "object"', '"properties":', "'type': 'object'", '"inputSchema"')


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    text = tool.listed.description
    for fragment in _JSON:
        if fragment in text:
            yield Problem(f"the description contains a schema: {fragment}", "description")
            return
    repeated = [
        each for each in tool.arguments if len(each.description) >= _MIN_LENGTH and each.description.rstrip(".") in text
    ]
    if len(repeated) >= _MIN_COUNT:
        names = ", ".join(each.name for each in repeated[:4])
        yield Problem(f"the description repeats the descriptions of the parameters {names}", "description")


RULE = Rule(
    id="CST006",
    name="schema-in-description",
    family="cost",
    severity="note",
    what="A description that repeats the schema.",
    why="It costs tokens twice, and the two contradict each other when one of them changes.",
    fix="Describe parameters in the schema only. Say in the description what the tool does, when, and what it returns.",
    bad=[
        {
            "description": "List notes. folder: The name of the folder to look in. tag: Only notes that have this tag.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "folder": {"type": "string", "description": "The name of the folder to look in."},
                    "tag": {"type": "string", "description": "Only notes that have this tag."},
                },
            },
        }
    ],
    good=[{"description": "List notes."}],
    check=check,
)
