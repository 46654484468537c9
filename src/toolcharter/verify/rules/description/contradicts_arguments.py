import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_NO_ARGUMENTS = re.compile(
    r"\b(?:(?:takes?|needs?|requires?|accepts?|has|have|with|expects?)\s+no\s+(?:parameters?|arguments?|inputs?|params?)"
    r"|no\s+(?:parameters?|arguments?|inputs?|params?)\s+(?:are\s+|is\s+)?(?:needed|required|necessary|taken|expected)"
    r"|does(?:n't| not)\s+(?:take|need|require|accept)\s+(?:any\s+)?(?:parameters?|arguments?|inputs?|params?))\b",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    required = [argument.name for argument in tool.arguments if argument.required]
    match = _NO_ARGUMENTS.search(tool.prose) if required else None
    if match:
        yield Problem(f"says {match[0]!r}, but {required[0]!r} is required", "description")


RULE = Rule(
    id="DSC015",
    name="contradicts-arguments",
    family="description",
    severity="error",
    what="The description says that the tool takes no arguments, but the schema requires some.",
    why="An agent that follows the text makes a call that fails.",
    fix="Remove the sentence, or make the arguments optional.",
    bad=[{"description": "List the notes of a folder. It takes no parameters. Use this to see what was written."}],
    good=[{"description": "List the notes of the folder given. Use this to see what was written down."}],
    check=check,
)
