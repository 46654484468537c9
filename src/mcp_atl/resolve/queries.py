"""Search queries: JQL, CQL, plain words, or a scope such as `project:ABC login`, as a query of each product."""

import re
from typing import NamedTuple

from mcp_atl.site import AtlassianSite, Product, ProductName

_OPERATOR = re.compile(
    r"""(?ix) (?: ^ | [\s(] ) (?: "[^"]+" | [\w.\[\]]+ ) \s*
        (?: != | !~ | <= | >= | = | ~ | < | > | \b(?: not \s+ )? in \s* \(
          | \b is \s+ (?: not \s+ )? (?: empty|null ) \b | \b was \b | \b changed \b )"""
)
_CQL_FIELD = re.compile(
    r"(?i)(?:^|[\s(])(?:space(?:\.\w+)?|title|ancestor|parent|content|container|macro|mention|contributor|siteSearch"
    r"|favourite|lastmodified|type\s*+(?:=|in\b)\s*+\(?\s*+\"?(?:page|blogpost|comment|attachment|space)\b)"
)
_ORDER = re.compile(r"(?i)\border\s+by\b")
_SCOPE = re.compile(r'^(project|board|sprint|space|filter|queue|label):(?:"([^"]+)"|(\S+))\s*(.*)$', re.DOTALL)


class Scope(NamedTuple):
    """The place to search, and the words to search for."""

    kind: str
    id: str
    rest: str


def scope_of(text: str) -> Scope | None:
    """The scope at the beginning of a text."""
    found = _SCOPE.match(text.strip())
    return Scope(found[1], found[2] or found[3], found[4].strip()) if found else None


def is_query(text: str) -> bool:
    """Whether a text is JQL or CQL rather than plain words."""
    return _OPERATOR.search(_without_quotes(text)) is not None or _ORDER.match(text.strip()) is not None


def products_for(product: ProductName, text: str) -> list[Product]:
    """The products to ask: the one that was named, that of the query's language, or both for plain words."""
    if product != "atlassian":
        return [product]
    if (scope := scope_of(text)) is not None:
        return ["confluence" if scope.kind == "space" else "jira"]
    if not is_query(text):
        return ["jira", "confluence"]
    return ["confluence" if _CQL_FIELD.search(text) else "jira"]


def words_as_jql(words: str) -> str:
    """Issues whose texts have these words; an issue key among them finds its issue."""
    return f"text ~ {quoted(words)} ORDER BY updated DESC" if words else "ORDER BY updated DESC"


def words_as_cql(words: str) -> str:
    """Pages whose titles or texts have these words."""
    matching = f"(title ~ {quoted(words)} OR text ~ {quoted(words)})" if words else "title is not null"
    return f"type = page AND {matching}" if words else "type = page ORDER BY lastmodified DESC"


def restrict_jql(site: AtlassianSite, jql: str) -> str:
    """The query within the projects that may be reached."""
    return _within("project", site.projects, jql)


def restrict_cql(site: AtlassianSite, cql: str) -> str:
    """The query within the spaces that may be reached."""
    return _within("space", site.spaces, cql)


def combine(condition: str, query: str) -> str:
    """A query with a further condition. Its ORDER BY stays at the end."""
    where, order = split_order(query)
    both = f"{condition} AND ({where})" if where else condition
    return f"{both} {order}".strip()


def split_order(query: str) -> tuple[str, str]:
    """The conditions of a query, and its ORDER BY. A text in quotes may have these words too."""
    found = _ORDER.search(_without_quotes(query))
    if found is None:
        return query.strip(), ""
    return query[: found.start()].strip(), query[found.start() :].strip()


def quoted(text: str) -> str:
    """A text in a query."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _within(field: str, allowed: frozenset[str] | None, query: str) -> str:
    if allowed is None:
        return query
    return combine(f"{field} in ({', '.join(quoted(key) for key in sorted(allowed))})", query)


def _without_quotes(text: str) -> str:
    """The text with everything in quotes replaced by as many underscores: places stay the same."""
    pattern = r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\''
    return re.sub(pattern, lambda found: '"' + "_" * (len(found[0]) - 2) + '"', text)
