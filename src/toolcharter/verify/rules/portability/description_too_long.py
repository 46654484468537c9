from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MAX_LENGTH = 1_024
_MAX_CLAUDE_CODE = 2_048


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    length = len(tool.listed.description)
    if length > _MAX_LENGTH:
        clients = ("OpenAI", "Claude Code") if length > _MAX_CLAUDE_CODE else ("OpenAI",)
        yield Problem(f"the description has {length} characters", "description", clients=clients)


RULE = Rule(
    id="POR018",
    name="description-too-long",
    family="portability",
    severity="warning",
    supersedes=("DSC004", "DSC005"),
    what="A description of more than 1,024 characters.",
    why='OpenAI models have rejected it: "string too long. Expected a string with maximum length 1024" '
    "(CherryHQ/cherry-studio issue 3698, probelabs/probe issue 9). "
    "Claude Code truncates it after 2,048 (anthropics/claude-code issue 41593).",
    fix="Keep what the tool does, when to use it and what it returns. Move the rest to the parameters or a resource.",
    bad=[{"description": "List the notes of a folder. " * 40}],
    good=[{"description": "List the notes of a folder."}],
    check=check,
)
