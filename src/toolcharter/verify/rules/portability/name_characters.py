import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json

_ALLOWED = re.compile(r"[a-zA-Z0-9_-]+")
_LEADING = re.compile(r"[a-zA-Z_]")
_CLIENTS = ("Claude", "OpenAI", "VS Code")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if not _ALLOWED.fullmatch(tool.name):
        others = sorted({letter for letter in tool.name if not _ALLOWED.fullmatch(letter)})
        clients = _CLIENTS if others == ["."] else (*_CLIENTS, "Gemini")
        characters = " ".join(map(short_json, others[:5]))
        problem = f"{short_json(tool.name)} contains {characters}" if others else "the name is empty"
        yield Problem(f"{problem}: only letters, digits, _ and - are safe", "name", clients=clients)
    elif not _LEADING.match(tool.name):
        yield Problem(f"{short_json(tool.name)} does not begin with a letter", "name", clients=("Gemini",))


RULE = Rule(
    id="POR001",
    name="name-characters",
    family="portability",
    severity="error",
    what="A tool name with characters other than letters, digits, underscore and hyphen, or that does not begin with "
    "a letter or an underscore.",
    why="The protocol allows dots too, but Claude (the Anthropic API's `^[a-zA-Z0-9_-]{1,128}$`; Claude Desktop and "
    "claude.ai 64 characters) and OpenAI (`^[a-zA-Z0-9_-]{1,64}$`) reject the request, with all other tools in it. "
    "See modelcontextprotocol issue 1345 and github/copilot-cli issue 1879. "
    "Gemini requires a letter or an underscore first (Vertex AI, FunctionDeclaration).",
    fix="Use only letters, digits, _ and -, and begin with a letter.",
    bad=[{"name": "notes.list"}],
    good=[{"name": "notes_list"}],
    check=check,
)
