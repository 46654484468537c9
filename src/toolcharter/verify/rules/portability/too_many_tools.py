from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

_MAX_TOOLS = 128


def check(server: Server) -> Iterable[Problem]:
    if len(server.tools) > _MAX_TOOLS:
        yield Problem(f"the server has {len(server.tools)} tools", clients=("VS Code", "OpenAI"))


RULE = Rule(
    id="POR016",
    name="too-many-tools",
    family="portability",
    severity="error",
    what="More than 128 tools in one server.",
    why='OpenAI allows 128 tools in a request, and so does GitHub Copilot: "You may not include more than 128 tools '
    'in your request" (microsoft/vscode-copilot-release issue 9375). The tools of the client itself count too.',
    fix="Split the server, merge tools that differ in one argument only, or offer a tool that finds tools.",
    bad=[{"name": f"list_notes_{number}"} for number in range(129)],
    good=[{"name": f"list_notes_{number}"} for number in range(9)],
    check_server=check,
)
