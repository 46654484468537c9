import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MAX_LENGTH = 64
_MAX_CURSOR = 60
_USUAL_SERVER = 12
"""The usual length of the name of a server in a client. A longer name is probably its title."""
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+")


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    length = len(tool.name)
    if length > _MAX_LENGTH:
        return
    server_length = min(len(_SEPARATORS.sub("-", server.name).strip("-")) or _USUAL_SERVER, _USUAL_SERVER)
    prefixed = len("mcp____") + server_length + length
    if prefixed > _MAX_LENGTH:
        clients = ("OpenAI", "Cursor") if server_length + length >= _MAX_CURSOR else ("OpenAI",)
        yield Problem(f"has {prefixed} characters as mcp__SERVER__{tool.name}", "name", clients=clients)


RULE = Rule(
    id="POR003",
    name="name-too-long-with-prefix",
    family="portability",
    severity="warning",
    what="A tool name with more than 64 characters when a client adds the name of the server as a prefix.",
    why="Clients add a prefix to distinguish servers, as in mcp__SERVER__TOOL, and models may allow only 64 "
    "characters: OpenAI rejects the request with all tools (mastra-ai/mastra issue 6302, microsoft/vscode "
    "issue 243602). "
    "Cursor drops tools whose server and tool name have 60 characters or more (ComposioHQ/composio issue 2788).",
    fix="Shorten the name of the tool or of the server.",
    bad=[{"name": "list_notes_of_a_folder_that_was_shared_with_the_user"}],
    good=[{"name": "list_shared_notes"}],
    check=check,
)
