from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.cost.very_large_server import LARGE

HEAVY = 10_000


def check(server: Server) -> Iterable[Problem]:
    tokens = sum(tool.tokens for tool in server.tools)
    if HEAVY < tokens <= LARGE:
        yield Problem(f"{len(server.tools)} tools cost about {tokens:,} tokens in every request")


RULE = Rule(
    id="CST004",
    name="large-server",
    family="cost",
    severity="note",
    what="A server whose tools take more than about 10,000 tokens together.",
    why="They are sent with every request, and other servers come on top.",
    fix="Shorten the dearest tools first, or let people switch groups of tools on.",
    bad=[{"name": f"list_{n}", "description": "List the notes of a folder. " * 70} for n in range(30)],
    good=[{"name": f"list_{n}"} for n in range(30)],
    check_server=check,
)
