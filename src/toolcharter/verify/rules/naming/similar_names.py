from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_ARTICLES = frozenset(["a", "an", "the", "of", "for"])


def check(server: Server) -> Iterable[Problem]:
    first: dict[tuple[str, ...], str] = {}
    for tool in server.tools:
        key = _key(tool.name_words)
        other = first.setdefault(key, tool.name) if key else tool.name
        if other != tool.name and not _is_bulk_pair(server, tool.name, other):
            yield Problem(
                f"{tool.name!r} differs from {other!r} only in {_difference(tool.name, other)}", "name", tool.name
            )


def _is_bulk_pair(server: Server, *names: str) -> bool:
    """Whether one tool takes a list, as in create_note and create_notes, where only the second requires an array."""
    return len({_takes_list(server.by_name[name]) for name in names}) > 1


def _takes_list(tool: Tool) -> bool:
    return any(argument.required and "array" in argument.types for argument in tool.arguments)


def _key(words: tuple[str, ...]) -> tuple[str, ...]:
    """A name without style, order, plural and a final number."""
    kept = [_singular(word) for word in words if word not in _ARTICLES]
    if len(kept) > 1 and len(kept[-1]) == 1 and kept[-1].isdigit():
        kept.pop()
    return tuple(sorted(kept))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004 - not: ties, dies
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _difference(name: str, other: str) -> str:
    letters, others = ["".join(filter(str.isalnum, one.lower())) for one in (name, other)]
    if letters == others:
        return "style"
    if letters.rstrip("0123456789") == others.rstrip("0123456789"):
        return "a number"
    return "the order of words" if sorted(letters) == sorted(others) else "a plural"


RULE = Rule(
    id="NAM005",
    name="similar-names",
    family="naming",
    severity="warning",
    what="Two names that differ only in style, order of words, plural, or a final number.",
    why="Agents confuse get_user, getUser, user_get and get_users, and call the wrong tool. "
    "A pair such as create_note and create_notes, where only the second requires a list, is not found.",
    fix="Name the difference: get_user and list_users, search_web and search_files.",
    bad=[{"name": "get_note"}, {"name": "get_notes"}],
    good=[
        {"name": "get_note"},
        {"name": "list_notes"},
        {"name": "create_note"},
        {
            "name": "create_notes",
            "inputSchema": {
                "type": "object",
                "properties": {"notes": {"type": "array", "items": {"type": "string"}}},
                "required": ["notes"],
            },
        },
    ],
    check_server=check,
)
