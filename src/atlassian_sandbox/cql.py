"""CQL: which pages, comments, files and spaces a query selects."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from atlassian_sandbox.confluence.bodies import text_of
from atlassian_sandbox.model import Attachment, PageComment, PageVersion, SiteUser, Space, StoredPage
from atlassian_sandbox.query_comparison import compare, contains_words, search_words
from atlassian_sandbox.query_dates import is_whole_day, parse_date
from atlassian_sandbox.query_language import Both, Clause, Either, Function, Node, NotClause, Operand, QueryError, parse
from atlassian_sandbox.state import SiteState


@dataclass(frozen=True)
class SearchItem:
    """Something that a search can find."""

    type: str
    id: str
    title: str
    text: str
    space: Space
    versions: list[PageVersion]
    labels: list[str]
    parents: list[str]  # the ids of the pages above, the nearest last
    content: StoredPage | PageComment | list[Attachment] | Space

    @property
    def created(self) -> datetime:
        return self.versions[0].created if self.versions else self.space.created

    @property
    def modified(self) -> datetime:
        return self.versions[-1].created if self.versions else self.space.created


FIELDS = (
    "type", "space", "space.key", "space.title", "space.type", "title", "text", "sitesearch", "label", "creator",
    "contributor", "mention", "created", "lastmodified", "parent", "ancestor", "id", "content", "container",
    "macro",
)  # fmt: skip
TEXT = ("title", "text", "sitesearch", "space.title")
DATES = ("created", "lastmodified")
PEOPLE = ("creator", "contributor", "mention")
_SORTS: dict[str, Callable[[SearchItem], Any]] = {
    "created": lambda hit: hit.created,
    "lastmodified": lambda hit: hit.modified,
    "title": lambda hit: hit.title.casefold(),
    "id": lambda hit: hit.id,
    "space": lambda hit: hit.space.key,
    "type": lambda hit: hit.type,
}


def select(state: SiteState, user: SiteUser, cql: str) -> list[SearchItem]:
    try:
        query = parse(cql)
    except QueryError as error:
        raise QueryError(f"Could not parse cql : {cql}. {error}") from None
    compiler = _CqlCompiler(state, user)
    test = compiler.compile(query.where) if query.where is not None else _always
    hits = [hit for hit in _everything(state, user) if test(hit)]
    if query.order:
        for order in reversed(query.order):
            key = _SORTS.get(order.field.lower())
            if key is None:
                raise QueryError(f"Could not parse cql : {cql}. The field '{order.field}' cannot be sorted by.")
            hits.sort(key=key, reverse=order.descending)
    else:
        words = compiler.words
        hits.sort(key=lambda hit: (_relevance(hit, words), hit.modified), reverse=True)
    return hits


def _always(_: SearchItem) -> bool:
    return True


def _relevance(hit: SearchItem, words: list[str]) -> int:
    title, text = hit.title.casefold(), hit.text.casefold()
    return sum(10 * title.count(word) + text.count(word) for word in words) + (hit.type == "page")


def _everything(state: SiteState, user: SiteUser) -> list[SearchItem]:
    pages = [page for page in state.pages.values() if page.status == "current" and state.can_read(page, user)]
    hits = [_page_hit(state, page) for page in pages]
    readable = {page.id for page in pages}
    for comment in state.page_comments.values():
        if comment.page in readable:
            page = state.pages[comment.page]
            text = text_of(comment.current.body)
            space = state.spaces[page.space]
            hits.append(
                SearchItem(
                    "comment", comment.id, f"Re: {page.title}", text, space, comment.versions, [], [page.id], comment
                )
            )
    for versions in state.page_attachments.values():
        file = versions[-1]
        if file.page in readable:
            space = state.spaces[state.pages[file.page].space]
            hits.append(
                SearchItem("attachment", file.id, file.file_name, file.comment, space, [], [], [file.page], versions)
            )
    spaces = state.visible_spaces(user)
    return hits + [
        SearchItem("space", each.id, each.name, each.description, each, [], each.labels, [], each) for each in spaces
    ]


def _page_hit(state: SiteState, page: StoredPage) -> SearchItem:
    parents = [each.id for each in state.ancestors(page)]
    space = state.spaces[page.space]
    text = text_of(page.current.body)
    return SearchItem(page.type, page.id, page.title, text, space, page.versions, page.labels, parents, page)


class _CqlCompiler:
    def __init__(self, state: SiteState, user: SiteUser) -> None:
        self.state = state
        self.user = user
        self.words: list[str] = []  # what was searched for in texts

    def compile(self, node: Node) -> Callable[[SearchItem], bool]:
        match node:
            case Both(parts):
                tests = [self.compile(part) for part in parts]
                return lambda hit: all(test(hit) for test in tests)
            case Either(parts):
                tests = [self.compile(part) for part in parts]
                return lambda hit: any(test(hit) for test in tests)
            case NotClause(part):
                test = self.compile(part)
                return lambda hit: not test(hit)
            case Clause():
                return self.clause(node)

    def clause(self, clause: Clause) -> Callable[[SearchItem], bool]:
        key = clause.field.lower()
        if key not in FIELDS:
            raise QueryError(f"Could not parse cql. No field exists with name: {clause.field}")
        if key in TEXT:
            return self.text(clause, key)
        if clause.operator in ("~", "!~", "is", "is not", "was", "changed"):
            raise QueryError(
                f"Could not parse cql. The operator '{clause.operator}' is not supported by '{clause.field}'."
            )
        if key in DATES:
            return self.dates(clause, key)
        wanted = {value for operand in clause.operands for value in self.resolve(key, operand)}
        negated = clause.operator in ("!=", "not in")
        return lambda hit: bool(wanted.intersection(self.values(hit, key))) != negated

    def text(self, clause: Clause, key: str) -> Callable[[SearchItem], bool]:
        operand = clause.operands[0]
        if isinstance(operand, Function):
            raise QueryError(f"Could not parse cql. The field '{clause.field}' cannot be searched with a function.")
        if clause.operator in ("=", "!="):
            wanted = operand.text.casefold()
            return lambda hit: (self.words_of(hit, key).casefold().strip() == wanted) == (clause.operator == "=")
        if clause.operator not in ("~", "!~"):
            raise QueryError(
                f"Could not parse cql. The operator '{clause.operator}' is not supported by '{clause.field}'."
            )
        words = search_words(operand.text)
        self.words += [word.strip('"*') for word in words]
        return lambda hit: contains_words(self.words_of(hit, key), words) == (clause.operator == "~")

    def words_of(self, hit: SearchItem, key: str) -> str:
        match key:
            case "title":
                return hit.title
            case "space.title":
                return hit.space.name
            case _:
                return f"{hit.title}\n{hit.text}\n{' '.join(hit.labels)}"

    def dates(self, clause: Clause, key: str) -> Callable[[SearchItem], bool]:
        operand = clause.operands[0]
        moment = parse_date(operand, self.state.now())
        if moment is None:
            raise QueryError(f"Could not parse cql. The date '{_shown(operand)}' is not valid for '{clause.field}'.")
        end = moment + timedelta(days=1, microseconds=-1) if is_whole_day(operand) else moment
        return lambda hit: compare(hit.created if key == "created" else hit.modified, clause.operator, moment, end)

    def resolve(self, key: str, operand: Operand) -> list[str]:
        if isinstance(operand, Function):
            if operand.name.lower() == "currentuser":
                return [self.user.id]
            raise QueryError(f"Could not parse cql. No function exists with name: {operand.name}")
        if key in PEOPLE:
            user = self.state.find_user(operand.text)
            return [user.id] if user else []
        if key in ("type", "label"):
            return [operand.text.lower()]
        return [operand.text]

    def values(self, hit: SearchItem, key: str) -> list[str]:  # noqa: C901, PLR0911 - one case for each field
        match key:
            case "type":
                return [hit.type]
            case "space" | "space.key":
                return [hit.space.key]
            case "space.type":
                return [hit.space.type]
            case "label":
                return [label.lower() for label in hit.labels]
            case "creator":
                return [hit.versions[0].author] if hit.versions else []
            case "contributor":
                return [version.author for version in hit.versions]
            case "mention":
                return [user for user in self.state.users if _mentions(hit, user)]
            case "macro":
                return _macros(hit)
            case "parent" | "container":
                return hit.parents[-1:]
            case "ancestor":
                return hit.parents
            case "id" | "content":
                return [hit.id]
            case _:
                return []


def _mentions(hit: SearchItem, user: str) -> bool:
    return bool(hit.versions) and user in hit.versions[-1].body.value


def _macros(hit: SearchItem) -> list[str]:
    body = hit.versions[-1].body.value if hit.versions else ""
    return re.findall(r'(?:"extensionKey":|structured-macro ac:name=)"([\w-]+)"', body)


def _shown(operand: Operand) -> str:
    return operand.name if isinstance(operand, Function) else operand.text


def excerpt(hit: SearchItem, words: list[str], size: int = 160) -> str:
    """A part of the text around the first word that was searched for."""
    text = re.sub(r"\s+", " ", hit.text)
    found = next((match.start() for word in words if (match := re.search(re.escape(word), text, re.IGNORECASE))), 0)
    start = max(found - size // 3, 0)
    return text[start : start + size]
