import re
from collections import Counter
from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

# A dot, slash or colon separates a namespace from the name.
_NAMESPACE_END = re.compile(r"[./:]")
_STYLES = {
    "snake_case": re.compile(r"[a-z0-9]+(_+[a-z0-9]+)+"),
    "kebab-case": re.compile(r"[a-z0-9]+(-+[a-z0-9]+)+"),
    "camelCase": re.compile(r"[a-z][a-z0-9]*+[A-Z][A-Za-z0-9]*+"),
    "PascalCase": re.compile(r"([A-Z][a-z0-9]+){2,}|[A-Z]++[a-z0-9][A-Za-z0-9]*+"),
}
_ONE_WORD = re.compile(r"[a-z0-9]*")
_DECLARED = {"snake": "snake_case", "kebab": "kebab-case"}


def check(server: Server) -> Iterable[Problem]:
    styles = {name: style for name in server.by_name if (style := _style(name))}
    counts = Counter(styles.values())
    counts.pop("a mix of styles", None)
    expected = _DECLARED[server.naming.style] if server.naming else next((s for s, _ in counts.most_common(1)), None)
    if expected is None:
        return
    for name, style in styles.items():
        if style != expected:
            yield Problem(f"{name!r} is {style}, but other names of the server are {expected}", "name", tool=name)


def _style(name: str) -> str | None:
    """The style of a name; None for a single word or another script, which match any style."""
    last = _NAMESPACE_END.split(name)[-1]
    if _ONE_WORD.fullmatch(last) or not last.isascii():
        return None
    return next((style for style, pattern in _STYLES.items() if pattern.fullmatch(last)), "a mix of styles")


RULE = Rule(
    id="NAM002",
    name="mixed-styles",
    family="naming",
    severity="warning",
    what="A name in another style than the other tools, or than the declared style of the server.",
    why=(
        "Agents guess names from other names. If get_user and deleteUser exist, they call delete_user, which does not."
    ),
    fix="Write all names of a server in one style, such as snake_case.",
    bad=[{"name": "get_note"}, {"name": "list_notes"}, {"name": "deleteNote"}],
    good=[{"name": "get_note"}, {"name": "list_notes"}, {"name": "delete_note"}, {"name": "search"}],
    check_server=check,
)
