from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.cost.very_large_server import VERY_LARGE

LARGE = 10_000


def check(server: Server) -> Iterable[Problem]:
    tokens = sum(tool.tokens for tool in server.tools)
    if LARGE < tokens <= VERY_LARGE:
        yield Problem(f"{len(server.tools)} tools cost about {tokens:,} tokens in every request")


RULE = Rule(
    id="CST004",
    name="large-server",
    family="cost",
    severity="note",
    what="A server whose tools have more than about 10,000 tokens together.",
    why="They are sent with every request, together with the tools of other servers.",
    fix="Shorten the largest tools first, or let users enable groups of tools.",
    bad=[{"name": f"list_{n}", "description": "List the notes of a folder. " * 70} for n in range(30)],
    good=[{"name": f"list_{n}"} for n in range(30)],
    check_server=check,
)
