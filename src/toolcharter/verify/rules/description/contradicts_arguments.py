import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_NONE = re.compile(
    r"\b(?:(?:takes?|needs?|requires?|accepts?|has|have|with|expects?)\s+no\s+(?:parameters?|arguments?|inputs?|params?)"
    r"|no\s+(?:parameters?|arguments?|inputs?|params?)\s+(?:are\s+|is\s+)?(?:needed|required|necessary|taken|expected)"
    r"|does(?:n't| not)\s+(?:take|need|require|accept)\s+(?:any\s+)?(?:parameters?|arguments?|inputs?|params?))\b",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    required = [argument.name for argument in tool.arguments if argument.required]
    said = _NONE.search(tool.prose) if required else None
    if said:
        yield Problem(f"says {said[0]!r}, but {required[0]!r} is required", "description")


RULE = Rule(
    id="DSC015",
    name="contradicts-arguments",
    family="description",
    severity="error",
    what="A description that says the tool takes no arguments, while its schema requires some.",
    why="An agent that believes the text makes a call that is refused.",
    fix="Remove the sentence, or the requirement.",
    bad=[{"description": "List the notes of a folder. It takes no parameters. Use this to see what was written."}],
    good=[{"description": "List the notes of the folder given. Use this to see what was written down."}],
    check=check,
)
