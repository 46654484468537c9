from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MAX_LENGTH = 64
CLIENTS = ("Claude Desktop", "claude.ai", "OpenAI", "Gemini")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if len(tool.name) > _MAX_LENGTH:
        yield Problem(f"the name has {len(tool.name)} characters, but many clients allow 64", "name", clients=CLIENTS)


RULE = Rule(
    id="POR002",
    name="name-too-long",
    family="portability",
    severity="error",
    what="A tool name of more than 64 characters.",
    why="OpenAI and Gemini document 64, and Claude Desktop rejects longer names "
    '("String should have at most 64 characters", mims-harvard/ToolUniverse issue 3), together with all other tools.',
    fix="Shorten the name, and move the rest to the description.",
    bad=[{"name": "list_all_notes_of_a_folder_that_was_shared_with_me_by_somebody_else"}],
    good=[{"name": "list_shared_notes"}],
    check=check,
)
