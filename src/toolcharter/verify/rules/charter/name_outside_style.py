from collections.abc import Iterable

from mcp_core.declare.charter import META
from mcp_core.declare.naming import Naming
from toolcharter.verify.declaration import is_declared
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_STYLES = (Naming("snake"), Naming("kebab"))


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if server.naming is not None:
        if problem := server.naming.problem(server.naming.command(tool.name)):
            yield Problem(f"{tool.name!r} {problem}", "name")
    elif is_declared(tool) and all(style.problem(tool.name) for style in _STYLES):
        yield Problem(f"{tool.name!r} is neither snake_case nor kebab-case", "name")


RULE = Rule(
    id="CHA005",
    name="name-outside-style",
    family="charter",
    severity="warning",
    what="A name is not in the declared style of the server.",
    why="Agents guess names from other names. A name in another style is guessed wrong.",
    fix="Rename the tool in the style of the naming policy, snake_case or kebab-case.",
    bad=[{"name": "listNotes", "_meta": {META + "version": "1.0.0"}}],
    good=[{"name": "list-notes", "_meta": {META + "version": "1.0.0"}}],
    check=check,
)
