from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

VERY_LARGE = 25_000


def check(server: Server) -> Iterable[Problem]:
    tokens = sum(tool.tokens for tool in server.tools)
    if tokens > VERY_LARGE:
        yield Problem(f"{len(server.tools)} tools cost about {tokens:,} tokens in every request")


RULE = Rule(
    id="CST003",
    name="very-large-server",
    family="cost",
    severity="warning",
    what="A server whose tools have more than about 25,000 tokens together.",
    why="They are sent with every request. That is an eighth of a context of 200,000 tokens before the conversation "
    "begins, and more than some models accept.",
    fix="Split the server, let users enable groups of tools, or offer compact descriptions.",
    bad=[{"name": f"list_{n}", "description": "List the notes of a folder. " * 150} for n in range(30)],
    good=[{"name": f"list_{n}"} for n in range(30)],
    check_server=check,
)
