import re
from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

_NAMED = re.compile(
    r"[`']([A-Za-z][\w.-]{1,63})(?:\(\))?[`'] tool\b|\btool `([A-Za-z][\w.-]{1,63})(?:\(\))?`|"
    r"\b(?i:call|invoke|run|use) [`']([A-Za-z][a-z0-9]{1,63}[_-][\w-]{1,63})(?:\(\))?[`']"
)
_PARTS = re.compile(r"[._-]+")


def check(server: Server) -> Iterable[Problem]:
    known: set[str] = set()
    for tool in server.tools:
        named = _NAMED.findall(tool.prose) if "`" in tool.prose or "'" in tool.prose else []
        if not named:
            continue
        known = known or {
            key for one in server.tools for key in (_key(one.name), "".join(server.unprefixed_words(one)))
        }
        others = {parameter.name for parameter in tool.parameters}
        for name in dict.fromkeys("".join(one) for one in named):
            # A name in another style, such as `light-dark` in CSS, is not of this server.
            own_style = "-" not in name or any("-" in one.name for one in server.tools)
            if name not in others and own_style and not _is_known(name, known):
                yield Problem(f"mentions {name!r}, which is not a tool of this server", "description", tool=tool.name)


def _is_known(name: str, known: set[str]) -> bool:
    """Whether the server has the tool, with or without a prefix, in any style."""
    parts = _PARTS.split(name)
    return any(_key("".join(parts[start:])) in known for start in range(len(parts)))


def _key(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(".", "").lower()


RULE = Rule(
    id="DSC022",
    name="unknown-tool",
    family="description",
    severity="warning",
    what="A description mentions a tool that the server does not have.",
    why="The agent calls it and fails, or calls a tool of the same name on another server.",
    fix="Use the listed name of the tool, or remove the sentence.",
    bad=[{"description": "List the notes of a folder. To find its name, call `list_folders` first. Returns titles."}],
    good=[{"description": "List the notes of a folder. For the next page, call `list_notes` again. Returns titles."}],
    check_server=check,
)
