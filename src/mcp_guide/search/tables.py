"""The tables of the search index: the words, and a compressed copy of what they were taken from.

The table of the words does not store texts. To delete from such a table, SQLite must be given the text again (only
newer versions of it need not), so each document keeps a copy, which snippets are cut from too.
"""

import sqlite3
import zlib
from typing import NamedTuple

from mcp_guide.content.documents import Document
from mcp_guide.search.words import index_form

VERSION = 4
"""Of the tables and of the form of the words. An index of another version is rebuilt."""

_TOKENIZER = "unicode61 remove_diacritics 2"  # ignores case and accents
_DOCUMENTS = "id INTEGER PRIMARY KEY, path TEXT UNIQUE, stamp TEXT NOT NULL, title TEXT NOT NULL, texts BLOB NOT NULL"
# The body comes first: SQLite stores two bytes more for each word of another column.
_WORDS = f"body, name, title, tags, description, content = '', tokenize = '{_TOKENIZER}'"
SCHEMA = (
    "CREATE TABLE about (root TEXT NOT NULL)",
    f"CREATE TABLE documents ({_DOCUMENTS})",
    f"CREATE VIRTUAL TABLE words USING fts5({_WORDS})",
    "INSERT INTO words(words, rank) VALUES ('rank', 'bm25(1.0, 5.0, 10.0, 6.0, 3.0)')",
    f"PRAGMA user_version = {VERSION}",
)
TABLES = ("words", "documents", "about")

_SEPARATOR = "\0"
_COLUMNS = "rowid, name, title, tags, description, body"


class IndexedTexts(NamedTuple):
    """The indexed parts of a document."""

    name: str
    title: str
    tags: str
    description: str
    body: str

    def words(self) -> tuple[str, ...]:
        """The columns of the table of the words."""
        return tuple(map(index_form, self))

    def compressed(self) -> bytes:
        """A copy without the name and the title, which are stored anyway."""
        return zlib.compress(_SEPARATOR.join(self[2:]).encode(errors="surrogatepass"))


def put_document(connection: sqlite3.Connection, document: Document, stamp: str) -> None:
    """Index a document in place of its former text."""
    row_id = delete_document(connection, document.path)
    front = document.front
    # A NUL ends a text for the tokenizer, and separates the texts in the copy.
    texts = IndexedTexts(
        *(
            text.replace(_SEPARATOR, " ")
            for text in (
                document.path,
                document.title,
                " ".join(front.tags),
                front.description or "",
                document.text or "",
            )
        )
    )
    inserted = connection.execute(
        "INSERT INTO documents (id, path, stamp, title, texts) VALUES (?, ?, ?, ?, ?)",
        (row_id, document.path, stamp, texts.title, texts.compressed()),
    )
    connection.execute(
        f"INSERT INTO words ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own constant
        (inserted.lastrowid, *texts.words()),
    )


def delete_document(connection: sqlite3.Connection, path: str) -> int | None:
    """Delete a document from the index, if it is there. Returns its id."""
    row = connection.execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchone()
    if row is None:
        return None
    connection.execute(
        f"INSERT INTO words (words, {_COLUMNS}) VALUES ('delete', ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own constant
        (row[0], *read_texts(connection, row[0]).words()),
    )
    connection.execute("DELETE FROM documents WHERE id = ?", row)
    return row[0]


def read_texts(connection: sqlite3.Connection, row_id: int) -> IndexedTexts:
    """The texts of a document as they were indexed. Raises DatabaseError if the copy is damaged."""
    statement = "SELECT path, title, texts FROM documents WHERE id = ?"
    path, title, texts = connection.execute(statement, (row_id,)).fetchone()
    try:
        tags, description, body = zlib.decompress(texts).decode(errors="surrogatepass").split(_SEPARATOR)
    except (zlib.error, ValueError) as error:
        raise sqlite3.DatabaseError(f"the copy of {path!r} in the index is damaged: {error}") from error
    return IndexedTexts(path.replace(_SEPARATOR, " "), title, tags, description, body)
