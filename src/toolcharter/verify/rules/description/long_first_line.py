from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

MAX_LENGTH = 50


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    first = tool.sentences[0].split("\n", 1)[0] if tool.sentences else ""
    if len(first) > MAX_LENGTH:
        yield Problem(f"the first line has {len(first)} characters, more than {MAX_LENGTH}", "description")


RULE = Rule(
    id="DSC024",
    name="long-first-line",
    family="description",
    severity="note",
    what="A description whose first line, or first sentence, is over 50 characters.",
    why="Lists of tools show the first line, and truncate it.",
    fix="Begin with a short sentence that says what the tool does.",
    bad=[{"description": "List all the notes that the user has ever written into a folder of their notebook."}],
    good=[{"description": "List the notes of a folder. Use this when the user wants to see what they wrote down."}],
    check=check,
    optional=True,
)
