from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_ENOUGH = 20
"""Characters that are no chance repetition."""
_FEWEST = 2
_JSON = ('"type": "object"', '"properties":', "'type': 'object'", '"inputSchema"')


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    text = tool.listed.description
    for fragment in _JSON:
        if fragment in text:
            yield Problem(f"the description holds a schema: {fragment}", "description")
            return
    said = [
        each for each in tool.arguments if len(each.description) >= _ENOUGH and each.description.rstrip(".") in text
    ]
    if len(said) >= _FEWEST:
        names = ", ".join(each.name for each in said[:4])
        yield Problem(f"the description repeats those of the parameters {names}", "description")


RULE = Rule(
    id="CST006",
    name="schema-in-description",
    family="cost",
    severity="note",
    what="A description that repeats what the schema says.",
    why="The agent pays twice, and when one of the two changes they contradict each other.",
    fix="Describe parameters in the schema only. The description says what the tool does, when, and what it returns.",
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
