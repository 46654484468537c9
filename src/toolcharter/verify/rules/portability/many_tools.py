from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

_MANY = 40
_TOO_MANY = 128


def check(server: Server) -> Iterable[Problem]:
    if _MANY < len(server.tools) <= _TOO_MANY:
        yield Problem(f"the server has {len(server.tools)} tools", clients=("Cursor",))


RULE = Rule(
    id="POR017",
    name="many-tools",
    family="portability",
    severity="note",
    what="More than 40 tools in one server.",
    why="Cursor used to send only the first 40 tools of all servers to the model, and now warns above 80 "
    "(anyproto/anytype-mcp issue 5, Snowflake-Labs/mcp issue 77). Models choose worse among many tools.",
    fix="Split the server by use case, or let users enable groups of tools.",
    bad=[{"name": f"list_notes_{number}"} for number in range(41)],
    good=[{"name": f"list_notes_{number}"} for number in range(9)],
    check_server=check,
)
