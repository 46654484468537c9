import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_LONGEST = 64
_CURSOR = 60
_USUAL_SERVER = 12
"""Letters of the name that a person gives a server in a client; a longer one is most likely its title."""
_OTHER = re.compile(r"[^A-Za-z0-9]+")


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    length = len(tool.name)
    if length > _LONGEST:
        return
    own = min(len(_OTHER.sub("-", server.name).strip("-")) or _USUAL_SERVER, _USUAL_SERVER)
    prefixed = len("mcp____") + own + length
    if prefixed > _LONGEST:
        clients = ("OpenAI", "Cursor") if own + length >= _CURSOR else ("OpenAI",)
        yield Problem(f"has {prefixed} characters as mcp__SERVER__{tool.name}", "name", clients=clients)


RULE = Rule(
    id="POR003",
    name="name-too-long-with-prefix",
    family="portability",
    severity="warning",
    what="A tool name that passes 64 characters once a client has put the server's name before it.",
    why="Clients prefix names to keep servers apart, as in mcp__SERVER__TOOL, and the model behind them may take 64 "
    "characters only: OpenAI answers with an error for all tools (mastra-ai/mastra issue 6302, microsoft/vscode "
    "issue 243602). "
    "Cursor leaves tools out whose server and tool name reach 60 together (ComposioHQ/composio issue 2788).",
    fix="Shorten the tool's name, or the server's.",
    bad=[{"name": "list_notes_of_a_folder_that_was_shared_with_the_user"}],
    good=[{"name": "list_shared_notes"}],
    check=check,
)
