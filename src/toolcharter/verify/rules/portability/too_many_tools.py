from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

_MOST = 128


def check(server: Server) -> Iterable[Problem]:
    if len(server.tools) > _MOST:
        yield Problem(f"the server has {len(server.tools)} tools", clients=("VS Code", "OpenAI"))


RULE = Rule(
    id="POR016",
    name="too-many-tools",
    family="portability",
    severity="error",
    what="More than 128 tools in one server.",
    why='A request to OpenAI takes 128 tools, and GitHub Copilot stops there: "You may not include more than 128 tools '
    "in your request\" (microsoft/vscode-copilot-release issue 9375). The client's own tools count too.",
    fix="Split the server, join tools that differ in one argument only, or offer a tool that finds tools.",
    bad=[{"name": f"list_notes_{number}"} for number in range(129)],
    good=[{"name": f"list_notes_{number}"} for number in range(9)],
    check_server=check,
)
