"""The tables of the search index: the words of each section, and a compressed copy of what they were taken from.

The table of the words does not store texts. To delete from such a table, SQLite must be given the text again (only
newer versions of it need not), so each section keeps a copy, which snippets are cut from too.
"""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mcp_guide.content.documents import Document
from mcp_guide.content.sections import find_sections
from mcp_guide.search.words import index_form

VERSION = 6
"""Of the tables and of the form of the words. An index of another version is rebuilt."""

_TOKENIZER = "porter unicode61 remove_diacritics 2"  # English stems; ignores case and accents
# The body comes first: SQLite stores two bytes more for each word of another column.
_WORDS = f"body, heading, about, content = '', tokenize = '{_TOKENIZER}'"
_WEIGHTS = "1.0, 4.0, 6.0"
_DOCUMENTS = "id INTEGER PRIMARY KEY, path TEXT UNIQUE, stamp TEXT NOT NULL, title TEXT NOT NULL, sections INTEGER"
_SECTIONS = "id INTEGER PRIMARY KEY, anchor TEXT NOT NULL, texts BLOB NOT NULL"
SCHEMA = (
    "CREATE TABLE about (root TEXT NOT NULL)",
    f"CREATE TABLE documents ({_DOCUMENTS})",
    f"CREATE TABLE sections ({_SECTIONS})",
    f"CREATE VIRTUAL TABLE words USING fts5({_WORDS})",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'row')",
    f"INSERT INTO words (words, rank) VALUES ('rank', 'bm25({_WEIGHTS})')",  # noqa: S608 - our own constant
    f"PRAGMA user_version = {VERSION}",
)
TABLES = ("vocabulary", "words", "sections", "documents", "about")

PLACE_BITS = 13
"""The id of a section is that of its document and its place there: so no table has to be read to know the document."""
_PLACES = 1 << PLACE_BITS

_SEPARATOR = "\0"
_COLUMNS = "rowid, body, heading, about"
_SYNONYMS = ("synonyms", "aliases", "keywords")
_SMALL = 60
"""A shorter text is stored as it is: compression would make it longer."""


class IndexedSection(NamedTuple):
    """The indexed parts of a section."""

    body: str
    heading: str
    """Its title and those of the sections around it."""
    about: str
    """The path, title, tags, description and synonyms of the document; in its first section alone."""

    def words(self) -> tuple[str, ...]:
        """The columns of the table of the words."""
        return tuple(map(index_form, self))

    def packed(self) -> bytes:
        """A copy, compressed if that is shorter."""
        plain = _SEPARATOR.join(self).encode(errors="surrogatepass")
        return b"0" + plain if len(plain) < _SMALL else b"1" + zlib.compress(plain)


def put_document(connection: sqlite3.Connection, document: Document, stamp: str) -> None:
    """Index a document in place of its former text."""
    row_id = delete_document(connection, document.path)
    sections = list(indexed_sections(document))
    inserted = connection.execute(
        "INSERT INTO documents (id, path, stamp, title, sections) VALUES (?, ?, ?, ?, ?)",
        (row_id, document.path, stamp, document.title.replace(_SEPARATOR, " "), len(sections)),
    ).lastrowid
    assert inserted is not None  # noqa: S101 - of an INSERT
    for section, (anchor, texts) in enumerate(sections, inserted << PLACE_BITS):
        connection.execute(
            "INSERT INTO sections (id, anchor, texts) VALUES (?, ?, ?)", (section, anchor, texts.packed())
        )
        connection.execute(
            f"INSERT INTO words ({_COLUMNS}) VALUES (?, ?, ?, ?)",  # noqa: S608 - our own constant
            (section, *texts.words()),
        )


def indexed_sections(document: Document) -> Iterator[tuple[str, IndexedSection]]:
    """The anchor and the indexed parts of each section."""
    text, front = document.text or "", document.front
    synonyms = (str(front.extra.get(name, "")) for name in _SYNONYMS)
    about = " ".join((document.path, document.title, *front.tags, front.description or "", *synonyms))
    for number, section in enumerate(find_sections(text)):
        heading = " ".join((*section.parents[1:], section.title))
        parts = (text[section.body : section.own_end], heading, about if number == 0 else "")
        # A NUL ends a text for the tokenizer, and separates the texts in the copy.
        yield section.id, IndexedSection(*(part.replace(_SEPARATOR, " ") for part in parts))


def delete_document(connection: sqlite3.Connection, path: str) -> int | None:
    """Delete a document from the index, if it is there. Returns its id."""
    row = connection.execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchone()
    if row is None:
        return None
    sections = (row[0] << PLACE_BITS, (row[0] << PLACE_BITS) + _PLACES - 1)
    of_document = "SELECT id, texts FROM sections WHERE id BETWEEN ? AND ?"
    for section, packed in connection.execute(of_document, sections).fetchall():
        connection.execute(
            f"INSERT INTO words (words, {_COLUMNS}) VALUES ('delete', ?, ?, ?, ?)",  # noqa: S608 - our own constant
            (section, *_unpack(packed).words()),
        )
    connection.execute("DELETE FROM sections WHERE id BETWEEN ? AND ?", sections)
    connection.execute("DELETE FROM documents WHERE id = ?", row)
    return row[0]


def read_texts(connection: sqlite3.Connection, section: int) -> IndexedSection:
    """The texts of a section as they were indexed. Raises DatabaseError if the copy is damaged."""
    return _unpack(connection.execute("SELECT texts FROM sections WHERE id = ?", (section,)).fetchone()[0])


def _unpack(packed: bytes) -> IndexedSection:
    try:
        plain = packed[1:] if packed[:1] == b"0" else zlib.decompress(packed[1:])
        body, heading, about = plain.decode(errors="surrogatepass").split(_SEPARATOR)
    except (zlib.error, ValueError) as error:
        raise sqlite3.DatabaseError(f"a copy in the index is damaged: {error}") from error
    return IndexedSection(body, heading, about)


def index_in_memory(documents: Iterable[Document]) -> sqlite3.Connection:
    """An index of a few documents. The caller closes it."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in SCHEMA:
        connection.execute(statement)
    for document in documents:
        put_document(connection, document, "")
    return connection
