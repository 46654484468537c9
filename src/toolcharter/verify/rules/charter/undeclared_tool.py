from collections.abc import Iterable

from mcp_core.declare.charter import META
from mcp_core.text.plurals import verb
from toolcharter.verify.declaration import declared_value, is_declared
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_LISTED = ("version", "category", "tags")


def check(server: Server) -> Iterable[Problem]:
    for tool in server.tools if any(map(is_declared, server.tools)) else ():
        if message := _missing(tool):
            yield Problem(message, "_meta", tool.name)


def _missing(tool: Tool) -> str | None:
    if tool.spec is not None:
        from mcp_core.declare.checks import REQUIRED  # noqa: PLC0415 - 90 ms, loaded with a server of ours
        from mcp_core.declare.spec import UNSET  # noqa: PLC0415 - as above

        fields = [name for name in REQUIRED if getattr(tool.spec.declaration, name) is UNSET]
        are = verb(len(fields), "is", "are")
        return f"has no full declaration: {', '.join(fields)} {are} missing" if fields else None
    missing = [name for name in _LISTED if declared_value(tool, name) is None]
    return f"does not declare its {' and '.join(missing)}" if missing else None


RULE = Rule(
    id="CHA001",
    name="undeclared-tool",
    family="charter",
    severity="warning",
    what="A server with declared tools has a tool without a complete declaration.",
    why=(
        "Category, permissions, response time, caching, idempotence, examples and tags decide how a tool is governed. "
        "Without them it runs ungoverned."
    ),
    fix="Declare what is missing, and make the server `App(strict=True)`, which refuses to start without it.",
    bad=[{"_meta": {META + "version": "1.0.0"}}],
    good=[{"_meta": {META + "version": "1.0.0", META + "category": "query", META + "tags": ["notes"]}}],
    check_server=check,
)
