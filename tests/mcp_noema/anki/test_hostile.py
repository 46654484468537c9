"""Damaged and hostile files. Each is a clear error, and soon."""

import random
import sqlite3
import struct
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

import pytest
import zstandard

from mcp_noema.anki.limits import ReadLimits
from mcp_noema.anki.package import BadPackage, Package, PackageCard, PackageDeck, PackageNote, PackageReview
from mcp_noema.anki.package_reader import read_package
from mcp_noema.anki.package_writer import write_package
from mcp_noema.model import BASIC, CardState, Schedule
from tests.mcp_noema.anki.conftest import AnkiFiles
from tests.mcp_noema.anki.package_strategies import WRITTEN

MEBIBYTE = 1 << 20
NEWEST, LEGACY = b"\x08\x03", b"\x08\x02"
SCHEDULE = Schedule(CardState.REVIEW, None, 9.0, 5.0, WRITTEN + timedelta(days=9), WRITTEN)
GOOD = Package(
    decks=(PackageDeck("Good"),),
    notes=(PackageNote("guid", BASIC, ("a", "b"), ("tag",), WRITTEN, WRITTEN),),
    cards=(PackageCard(0, 0, 0, 1, SCHEDULE, 1, 0, suspended=False, buried=False, created_at=WRITTEN, ease=2500),),
    reviews=(PackageReview(0, 3, WRITTEN, 1000, CardState.NEW, 86_400, 0),),
    written_at=WRITTEN,
)


def zipped(path: Path, entries: dict[str, bytes], kind: int = ZIP_DEFLATED) -> Path:
    with ZipFile(path, "w", kind) as archive:
        for name, content in entries.items():
            # Set afterwards: ZipInfo would correct some of the names.
            info = ZipInfo("x")
            info.filename, info.compress_type = name, kind
            archive.writestr(info, content)
    return path


def good_collection(tmp_path: Path) -> bytes:
    write_package(GOOD, tmp_path / "good.apkg", overwrite=True)
    return ZipFile(tmp_path / "good.apkg").read("collection.anki21")


def changed(tmp_path: Path, sql: str) -> Path:
    """A good package whose collection was changed with SQL."""
    (tmp_path / "collection").write_bytes(good_collection(tmp_path))
    with closing(sqlite3.connect(tmp_path / "collection")) as connection:
        connection.executescript(sql)
    return zipped(tmp_path / "bad.apkg", {"collection.anki21": (tmp_path / "collection").read_bytes()})


def test_the_good_package_is_accepted(tmp_path: Path):
    assert read_package(zipped(tmp_path / "good", {"collection.anki21": good_collection(tmp_path)})) == GOOD


# --- the archive -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all", b"PK\x05\x06" + b"\xff" * 18, b"\0" * 5000])
def test_a_file_that_is_not_a_zip_is_an_error(tmp_path: Path, content: bytes):
    (tmp_path / "x.apkg").write_bytes(content)
    with pytest.raises(
        BadPackage, match=r"^x\.apkg is not an Anki package, or it is damaged: .* Export it again from Anki"
    ):
        read_package(tmp_path / "x.apkg")


def test_a_truncated_file_is_damaged(anki_files: AnkiFiles, tmp_path: Path):
    whole = anki_files.files["anki21b.apkg"].read_bytes()
    (tmp_path / "half.apkg").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadPackage, match=r"half\.apkg is not an Anki package, or it is damaged"):
        read_package(tmp_path / "half.apkg")


def test_a_package_without_a_collection(tmp_path: Path):
    with pytest.raises(BadPackage, match=r"contains no collection \(collection\.anki2\)"):
        read_package(zipped(tmp_path / "x.apkg", {"media": b"{}"}))
    with pytest.raises(BadPackage, match=r"contains no collection \(collection\.anki21b\)"):
        read_package(zipped(tmp_path / "x.apkg", {"meta": NEWEST, "collection.anki21": good_collection(tmp_path)}))


def test_an_unknown_package_version(tmp_path: Path):
    with pytest.raises(
        BadPackage, match=r"package version 9; versions 1 to 3 are supported.*'Support older Anki versions'"
    ):
        read_package(zipped(tmp_path / "x.apkg", {"meta": b"\x08\x09", "collection.anki99": b""}))


@pytest.mark.parametrize("meta", [b"\x08", b"\xff" * 20, b"\x0a\xff", b"\x0b\x00", b"\x00\x00"])
def test_a_damaged_meta_entry(tmp_path: Path, meta: bytes):
    with pytest.raises(BadPackage, match="message in the file cannot be read"):
        read_package(zipped(tmp_path / "x.apkg", {"meta": meta, "collection.anki2": b""}))


@pytest.mark.parametrize(
    "name", ["../evil", "a/../../evil", "/etc/passwd", "..\\evil", "C:\\evil", "\\\\host\\share\\evil", "a\\..\\b"]
)
def test_names_that_point_outside_are_refused(tmp_path: Path, name: str):
    collection = good_collection(tmp_path)
    with pytest.raises(BadPackage, match="which points outside of it"):
        read_package(zipped(tmp_path / "x.apkg", {"collection.anki21": collection, name: b"x"}))
    listed = b'{"0": "%b"}' % name.replace("\\", "\\\\").encode()
    with pytest.raises(BadPackage, match="which points outside of it"):
        read_package(zipped(tmp_path / "x.apkg", {"collection.anki21": collection, "media": listed}))


def most_memory(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_zip_bomb_is_refused(tmp_path: Path):
    bomb = zipped(tmp_path / "x.apkg", {"collection.anki21": b"\0" * (64 * MEBIBYTE)})
    assert bomb.stat().st_size < MEBIBYTE

    def try_it() -> None:
        with pytest.raises(BadPackage, match="The collection in the file unpacks to more than 1,048,576 bytes"):
            read_package(bomb, ReadLimits(collection_bytes=MEBIBYTE))

    assert most_memory(try_it) < 16 * MEBIBYTE


def test_a_zstd_bomb_is_refused(tmp_path: Path):
    layer = zstandard.ZstdCompressor(19).compress(b"\0" * (64 * MEBIBYTE))
    bomb = zipped(tmp_path / "x.apkg", {"meta": NEWEST, "collection.anki21b": layer}, ZIP_STORED)
    assert bomb.stat().st_size < MEBIBYTE

    def try_it() -> None:
        with pytest.raises(BadPackage, match="The collection in the file unpacks to more than 1,048,576 bytes"):
            read_package(bomb, ReadLimits(collection_bytes=MEBIBYTE))

    assert most_memory(try_it) < 16 * MEBIBYTE


def test_a_zstd_window_that_takes_all_memory_is_refused(tmp_path: Path):
    wide = zstandard.ZstdCompressionParameters(window_log=30)
    maker = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    layer = maker.compress(b"x" * 1000) + maker.flush()
    with pytest.raises(BadPackage, match="damaged"):
        read_package(zipped(tmp_path / "x.apkg", {"meta": NEWEST, "collection.anki21b": layer}))


def test_the_sizes_that_a_file_claims_are_not_trusted(tmp_path: Path):
    bomb = zipped(tmp_path / "x.apkg", {"collection.anki21": b"\0" * (8 * MEBIBYTE)})
    # In both headers, as if it were small.
    data = bomb.read_bytes().replace(struct.pack("<L", 8 * MEBIBYTE), struct.pack("<L", 100))
    bomb.write_bytes(data)
    with pytest.raises(BadPackage):
        read_package(bomb, ReadLimits(collection_bytes=MEBIBYTE))


def test_an_endless_media_list_is_refused(tmp_path: Path):
    endless = b"{" + b" " * MEBIBYTE
    path = zipped(tmp_path / "x.apkg", {"collection.anki21": good_collection(tmp_path), "media": endless})
    with pytest.raises(BadPackage, match="The list of media in the file unpacks to more than 1,000 bytes"):
        read_package(path, ReadLimits(media_bytes=1000))


def test_too_many_entries_are_refused(tmp_path: Path):
    crowd = zipped(tmp_path / "x.apkg", {str(place): b"" for place in range(101)})
    with pytest.raises(BadPackage, match="The file has 101 entries; at most 100 are read"):
        read_package(crowd, ReadLimits(entries=100))
    with pytest.raises(BadPackage, match=r"The zip directory of the file has [\d,]+ bytes; at most 1,000 are read"):
        read_package(crowd, ReadLimits(directory_bytes=1000))


def test_encryption_and_unusual_compression_are_refused(tmp_path: Path):
    with pytest.raises(BadPackage, match="encrypted, or compressed in a way that Anki does not use"):
        read_package(zipped(tmp_path / "x.apkg", {"collection.anki21": b"x" * 100}, ZIP_LZMA))
    locked = zipped(tmp_path / "x.apkg", {"collection.anki21": b"x" * 100}, ZIP_STORED).read_bytes()
    # The flag for encryption, in the directory.
    at = locked.index(b"PK\x01\x02") + 8
    (tmp_path / "x.apkg").write_bytes(locked[:at] + b"\x01" + locked[at + 1 :])
    with pytest.raises(BadPackage, match="encrypted, or compressed in a way that Anki does not use"):
        read_package(tmp_path / "x.apkg")


def test_an_entry_that_begins_before_the_file_is_an_error(tmp_path: Path):
    data = bytearray(zipped(tmp_path / "x.apkg", {"collection.anki21": good_collection(tmp_path)}).read_bytes())
    at = data.rindex(b"PK\x05\x06") + 16
    data[at : at + 4] = struct.pack("<L", struct.unpack("<L", data[at : at + 4])[0] + 10)
    (tmp_path / "x.apkg").write_bytes(data)
    with pytest.raises(BadPackage, match="damaged: an entry begins before the file"):
        read_package(tmp_path / "x.apkg")


@pytest.mark.parametrize("media", [b"[]", b"{", b'{"0": {}}', b"\xff"])
def test_a_damaged_media_list(tmp_path: Path, media: bytes):
    entries = {"collection.anki21": good_collection(tmp_path), "media": media}
    with pytest.raises(BadPackage, match="The list of media in the file cannot be read"):
        read_package(zipped(tmp_path / "x.apkg", entries))


# --- the database ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 5000, b"x" * 5000])
def test_a_collection_that_is_not_a_database(tmp_path: Path, content: bytes):
    with pytest.raises(BadPackage, match=r"has no table 'col'|cannot be read"):
        read_package(zipped(tmp_path / "x.apkg", {"collection.anki21": content}))


@pytest.mark.parametrize("version", [0, 1, 10, 12, 19, 99])
def test_an_unknown_schema(tmp_path: Path, version: int):
    with pytest.raises(BadPackage, match=rf"has schema {version}; schemas 11 and 15 to 18 are supported"):
        read_package(changed(tmp_path, f"UPDATE col SET ver = {version}"))


def test_a_newer_schema_without_its_tables(tmp_path: Path):
    with pytest.raises(BadPackage, match="has no table 'config', so Anki did not write it"):
        read_package(changed(tmp_path, "UPDATE col SET ver = 18"))


@pytest.mark.parametrize("table", ["notes", "cards", "revlog", "col"])
def test_a_missing_table(tmp_path: Path, table: str):
    with pytest.raises(BadPackage, match=f"has no table '{table}', so Anki did not write it"):
        read_package(changed(tmp_path, f"DROP TABLE {table}"))


def test_a_missing_column(tmp_path: Path):
    with pytest.raises(BadPackage, match="The table 'cards' in the file lacks the columns odue, odid"):
        read_package(changed(tmp_path, "ALTER TABLE cards DROP COLUMN odue; ALTER TABLE cards DROP COLUMN odid"))


@pytest.mark.parametrize("table", ["notes", "cards", "revlog", "col"])
def test_a_view_instead_of_a_table_is_not_run(tmp_path: Path, table: str):
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
    columns = {"notes": "id guid mid mod tags flds", "col": "ver crt mod conf models decks dconf"}.get(table, "id")
    view = ", ".join(f"({endless}) AS {column}" for column in columns.split())
    with pytest.raises(BadPackage, match=f"has a view instead of a table '{table}'"):
        read_package(changed(tmp_path, f"DROP TABLE {table}; CREATE VIEW {table} AS SELECT {view}"))


def test_a_virtual_table_is_not_run(tmp_path: Path):
    sql = "DROP TABLE notes; CREATE VIRTUAL TABLE notes USING fts5(id, guid, mid, mod, tags, flds)"
    with pytest.raises(BadPackage, match="has a virtual instead of a table 'notes'"):
        read_package(changed(tmp_path, sql))


def test_a_generated_column_is_not_run(tmp_path: Path):
    sql = "ALTER TABLE notes DROP COLUMN tags; ALTER TABLE notes ADD COLUMN tags TEXT AS (hex(zeroblob(99999999)))"
    with pytest.raises(BadPackage, match="The table 'notes' in the file lacks the columns tags"):
        read_package(changed(tmp_path, sql))


def test_a_constraint_is_not_run(tmp_path: Path):
    sql = """
    ALTER TABLE notes RENAME TO old;
    CREATE TABLE notes (id integer PRIMARY KEY, guid, mid, mod, usn, tags, flds, sfld, csum, flags, data,
      CHECK (length(hex(zeroblob(50000000))) = 1));
    PRAGMA ignore_check_constraints=ON;
    INSERT INTO notes SELECT * FROM old;
    """
    assert read_package(changed(tmp_path, sql)) == GOOD


def test_pages_that_point_at_each_other_are_detected(tmp_path: Path):
    (tmp_path / "collection").write_bytes(good_collection(tmp_path))
    with closing(sqlite3.connect(tmp_path / "collection")) as connection:
        more = ((number, f"g{number}") for number in range(5000))
        connection.executemany(
            "INSERT INTO notes SELECT ?, ?, mid, mod, usn, tags, flds, sfld, csum, 0, '' FROM notes LIMIT 1", more
        )
        connection.commit()
        (size,), (root,) = (
            connection.execute("PRAGMA page_size").fetchone(),
            connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'notes'").fetchone(),
        )
    data = bytearray((tmp_path / "collection").read_bytes())
    page = (root - 1) * size
    assert data[page] == 5, "an inner page of a table"
    # All its children are the same page.
    cells = struct.unpack(">H", data[page + 3 : page + 5])[0]
    first = struct.unpack(">H", data[page + 12 : page + 14])[0]
    child = data[page + first : page + first + 4]
    for cell in range(cells):
        at = struct.unpack(">H", data[page + 12 + 2 * cell : page + 14 + 2 * cell])[0]
        data[page + at : page + at + 4] = child
    with pytest.raises(BadPackage, match=r"The collection in the file (is damaged|cannot be read)"):
        read_package(zipped(tmp_path / "x.apkg", {"collection.anki21": bytes(data)}))


def test_too_many_rows_are_refused(tmp_path: Path):
    sql = "INSERT INTO notes SELECT 5, 'g', mid, mod, usn, tags, flds, sfld, csum, flags, data FROM notes"
    with pytest.raises(BadPackage, match="The table 'notes' in the file has 2 rows; at most 1 are read"):
        read_package(changed(tmp_path, sql), ReadLimits(rows=1))


def test_the_review_log_may_be_longer_than_other_tables(tmp_path: Path):
    sql = "INSERT INTO revlog SELECT id + 1, cid, usn, ease, ivl, lastIvl, factor, time, type FROM revlog"
    file = changed(tmp_path, sql)
    assert len(read_package(file, ReadLimits(rows=1, reviews=2)).reviews) == 2
    with pytest.raises(BadPackage, match="The table 'revlog' in the file has 2 rows; at most 1 are read"):
        read_package(file, ReadLimits(reviews=1))


@pytest.mark.parametrize("table", ["notes", "cards"])
def test_an_id_that_occurs_twice_is_refused(tmp_path: Path, table: str):
    sql = f"CREATE TABLE copy AS SELECT * FROM {table} UNION ALL SELECT * FROM {table}; DROP TABLE {table};"
    with pytest.raises(BadPackage, match=rf"Two {table} in the file have the id \d+\."):
        read_package(changed(tmp_path, f"{sql} ALTER TABLE copy RENAME TO {table}"))


def test_a_trigger_is_not_run(tmp_path: Path):
    sql = "CREATE TRIGGER t AFTER INSERT ON notes BEGIN DELETE FROM cards; END"
    assert read_package(changed(tmp_path, sql)) == GOOD


# --- values ------------------------------------------------------------------------------------------

BAD_VALUES = {
    "DELETE FROM col": "The table 'col' in the file has no row",
    "UPDATE col SET conf = 'x'": "The settings in the file cannot be read",
    "UPDATE col SET models = '[]'": "The note types in the file cannot be read",
    "UPDATE col SET models = '{}'": r"The note \d+ has the note type \d+, which is missing from the file or empty",
    "UPDATE col SET decks = '{\"1\": {}}'": r"The decks in the file cannot be read: 1\.name: Field required",
    "UPDATE col SET dconf = x'ff'": "The deck options in the file cannot be read",
    "UPDATE col SET crt = -5": "\\(seconds since 1970\\), which is not valid",
    "UPDATE col SET mod = 9e18": "where a number is expected",
    "UPDATE col SET crt = 'yesterday'": "where a number is expected",
    "UPDATE notes SET mid = 7": r"The note \d+ has the note type 7, which is missing from the file",
    "UPDATE notes SET guid = ''": "has a guid of 0 characters",
    "UPDATE notes SET guid = hex(zeroblob(200))": "has a guid of 400 characters",
    "UPDATE notes SET mod = 'now'": r"The note \d+ has 'now' where a number is expected",
    "UPDATE cards SET nid = 7": r"The card \d+ belongs to the note 7, which is not in the file",
    "UPDATE cards SET type = 9": "has type 9 and template 0, which is not valid",
    "UPDATE cards SET ord = -1": "has type 2 and template -1, which is not valid",
    "UPDATE cards SET due = 999999999": "is due on day 999,999,999, which is not valid",
    "UPDATE cards SET due = -999999999": "is due on day -999,999,999, which is not valid",
    "UPDATE cards SET due = -700000, data = ''; DELETE FROM revlog": "is due on day -700,000, which is not valid",
    "UPDATE cards SET due = 2900000": "is due on day 2,900,000, which is not valid",
    "UPDATE col SET mod = 253402300799000": "\\(seconds since 1970\\), which is not valid",
    "UPDATE revlog SET id = 253402300799000": "\\(seconds since 1970\\), which is not valid",
    "UPDATE cards SET due = 9e300": "where a number is expected",
    "UPDATE cards SET due = x'00'": "where a number is expected",
    "UPDATE revlog SET ease = 5": "has the rating 5; Anki's ratings are 0 to 4",
    "UPDATE revlog SET id = -5": "\\(seconds since 1970\\), which is not valid",
}


@pytest.mark.parametrize("sql", BAD_VALUES)
def test_a_value_that_is_not_valid_is_an_error(tmp_path: Path, sql: str):
    with pytest.raises(BadPackage, match=BAD_VALUES[sql]):
        read_package(changed(tmp_path, sql))


def test_a_deck_name_that_is_too_long(tmp_path: Path):
    sql = "UPDATE col SET decks = replace(decks, 'Good', hex(zeroblob(200)))"
    with pytest.raises(BadPackage, match=r"has a name of 400 characters; at most 255 are allowed\. Shorten it in Anki"):
        read_package(changed(tmp_path, sql))


@pytest.mark.parametrize("name", ["Basic", "Front", "Card 1"])
def test_a_name_in_a_note_type_that_is_too_long(tmp_path: Path, name: str):
    sql = f"""UPDATE col SET models = replace(models, '"{name}"', '"' || hex(zeroblob(10000)) || '"')"""
    with pytest.raises(BadPackage, match=r"of 20,000 characters; at most 255 are allowed\. Shorten it in Anki"):
        read_package(changed(tmp_path, sql))


def test_a_template_that_is_too_long(tmp_path: Path):
    sql = "UPDATE col SET models = replace(models, '{{Front}}', hex(zeroblob(110000)))"
    with pytest.raises(BadPackage, match=r"a template of 220,000 characters; at most 200,000 are allowed"):
        read_package(changed(tmp_path, sql))


HARMLESS = {
    "NUL": (
        "UPDATE notes SET flds = 'a' || char(0) || char(31) || 'b' || char(0), tags = ' t' || char(0) || 'ag '",
        GOOD,
    ),
    "NUL in JSON": (
        (
            "UPDATE col SET decks = replace(decks, 'Good', 'Go\\u0000od'); "
            "UPDATE col SET models = replace(models, 'Basic', 'Ba\\u0000sic')"
        ),
        GOOD,
    ),
    "an id that is not a time": ("UPDATE cards SET id = 253402300799000; DELETE FROM revlog", None),
    "no deck": ("UPDATE cards SET did = 77", None),
    "data that is not JSON": ("UPDATE cards SET data = '[[['", None),
    "data with wrong types": ("""UPDATE cards SET data = '{"s": "x", "d": -4, "pos": 1e400}'""", None),
    "options of other types": (
        "; ".join(
            f"UPDATE col SET dconf = replace(dconf, '\"{name}\": {old}', '\"{name}\": {new}')"
            for name, old, new in [
                ("leechAction", 1, '"x"'),
                ("initialFactor", 2500, "1e999"),
                ("ints", "[1, 4, 0]", "null"),
                ("newMix", 0, "[1.5]"),
                ("easyDaysPercentages", "[]", 5),
                ("mult", "0.0", "NaN"),
            ]
        ),
        GOOD,
    ),
    "integers as floats": ("UPDATE cards SET reps = 1.0", GOOD),
    "too few fields": ("UPDATE notes SET flds = 'a'", None),
    "too many fields": ("UPDATE notes SET flds = flds || char(31) || 'c'", None),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_unusual_but_harmless_values_are_accepted(tmp_path: Path, name: str):
    sql, expected = HARMLESS[name]
    package = read_package(changed(tmp_path, sql))
    assert len(package.cards) == 1
    if expected:
        assert package == expected


def test_a_note_has_as_many_values_as_its_type_has_fields(tmp_path: Path):
    assert read_package(changed(tmp_path, HARMLESS["too few fields"][0])).notes[0].values == ("a", "")
    assert read_package(changed(tmp_path, HARMLESS["too many fields"][0])).notes[0].values == ("a", "b; c")


def test_a_card_without_a_deck_goes_to_the_default_one(tmp_path: Path):
    package = read_package(changed(tmp_path, HARMLESS["no deck"][0]))
    assert package.decks[package.cards[0].deck].name == "Default"


@pytest.mark.parametrize("form", ["anki21.apkg", "anki21b.apkg"])
def test_random_bytes_cause_no_other_error(anki_files: AnkiFiles, tmp_path: Path, form: str):
    whole, dice = anki_files.files[form].read_bytes(), random.Random(1)
    refused = 0
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(dice.choice((1, 5, 50))):
            data[dice.randrange(len(data))] = dice.randrange(256)
        (tmp_path / "x.apkg").write_bytes(data)
        try:
            read_package(tmp_path / "x.apkg")
        except BadPackage:
            refused += 1
    assert refused > 50


def test_random_bytes_in_a_collection_cause_no_other_error(tmp_path: Path):
    whole, dice = good_collection(tmp_path), random.Random(2)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(dice.choice((1, 5, 50))):
            data[dice.randrange(len(data))] = dice.randrange(256)
        zipped(tmp_path / "x.apkg", {"collection.anki21": bytes(data)}, ZIP_STORED)
        try:
            read_package(tmp_path / "x.apkg")
        except BadPackage:
            continue
