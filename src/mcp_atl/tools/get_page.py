"""How get reads a page: its outline, one section of it, or as much of the text as fits the budget."""

from mcp_atl.answers.pages import compact_page
from mcp_atl.client.confluence import ConfluenceApi, ConfluencePage, confluence
from mcp_atl.client.connection import Json, SiteConnection
from mcp_atl.edit.document import PageDocument
from mcp_atl.edit.opening import convert, open_document
from toolcharter import InvalidArguments

CHARACTERS_PER_TOKEN = 4
OUTLINE = "outline"


async def read_page(
    connection: SiteConnection,
    id: str,
    *,
    part: str | None = None,
    budget: int = 8000,
    cursor: str | None = None,
    version: int | None = None,
    with_body: bool = True,
) -> Json:
    """A page with the part of its text that was asked for. `id` may be SPACE/Title."""
    page = await find_page(confluence(connection), id, version=version, with_body=with_body)
    shown = compact_page(page)
    if not with_body:
        return shown
    if part == OUTLINE:
        return shown | {"outline": await convert(lambda: outline_of(_document(connection, page)), page.size)}
    text = await convert(lambda: _text(_document(connection, page), part), page.size)
    body, next_cursor = _cut(text, budget * CHARACTERS_PER_TOKEN, _offset(cursor, page.version))
    return shown | {"body": body, "next_cursor": None if next_cursor is None else f"{page.version}:{next_cursor}"}


def _document(connection: SiteConnection, page: ConfluencePage) -> PageDocument:
    return open_document(connection.site.kind, page.body)


def _text(document: PageDocument, part: str | None) -> str:
    return document.markdown() if part is None else document.section(part).markdown


async def find_page(
    api: ConfluenceApi, id: str, *, version: int | None = None, with_body: bool = True
) -> ConfluencePage:
    """A page by id, or by space and title."""
    space, slash, title = id.partition("/")
    if slash and title:
        return await api.find_page(space.strip(), title.strip())
    return await api.page(id, body=with_body, version=version)


def outline_of(document: PageDocument) -> list[str]:
    """The headings of a page: the number by which a section is read and changed, its title and its size."""
    return [f"{one.number} {one.title} ({one.size})" for one in document.outline()]


def _offset(cursor: str | None, version: int) -> int:
    if cursor is None:
        return 0
    known, _, offset = cursor.partition(":")
    if not offset.isdigit() or known != str(version):
        raise InvalidArguments(
            f"parameters.cursor: {cursor[:40]!r} belongs to another version of the page. Read it from the beginning.",
            fields=("parameters",),
        )
    return int(offset)


def _cut(text: str, longest: int, offset: int) -> tuple[str, int | None]:
    """As much of a text as fits, cut at the end of a line where there is one, and where the rest begins."""
    rest = text[offset:]
    if len(rest) <= longest:
        return rest, None
    line_end = rest.rfind("\n", longest // 2, longest)
    length = line_end + 1 if line_end > 0 else longest
    return rest[:length], offset + length
