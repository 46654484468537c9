"""The zip file around a collection: opened as if it came from an enemy, and no more of it read than is needed."""

import io
import struct
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import zstandard
from pydantic import TypeAdapter, ValidationError

from mcp_noema.anki import protobuf
from mcp_noema.anki.package import BadPackage

MEBIBYTE = 1 << 20
AGAIN = "Export it again from Anki (File > Export)."

COLLECTIONS = {1: "collection.anki2", 2: "collection.anki21", 3: "collection.anki21b"}
"""Where the collection is, by the version in `meta`. The last is compressed with zstd, and so is its list of media."""
_ZSTD = 3
_LONGEST_META = 1024
_WIDEST_WINDOW = 128 * MEBIBYTE
_ENCRYPTED = 1


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a file may make us read, whatever it says of itself."""

    entries: int = 200_000
    directory_bytes: int = 32 * MEBIBYTE
    media_bytes: int = 32 * MEBIBYTE
    collection_bytes: int = 512 * MEBIBYTE
    rows: int = 1_000_000
    """Of a table: notes, cards or reviews."""


def unpack(path: Path, target: Path, limits: Limits) -> tuple[str, ...]:
    """Write the collection of a package to `target`. Returns the names of its media."""
    with _complaints(path), _Bounded(path, limits.directory_bytes) as file, ZipFile(file) as archive:
        entries = _entries(archive, limits)
        version = _version(archive, entries)
        if (collection := entries.get(COLLECTIONS[version])) is None:
            raise BadPackage(f"{path.name} holds no collection ({COLLECTIONS[version]}). {AGAIN}")
        with _content(archive, collection, version) as stream, target.open("wb") as copy:
            for part in _parts(stream, limits.collection_bytes, "collection"):
                copy.write(part)
        return _media(archive, entries.get("media"), version, limits)


class _Bounded(io.BufferedReader):
    """A file that is not read in pieces larger than allowed: zipfile believes what a file says of its directory."""

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(io.FileIO(path))
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > self._most:
            raise BadPackage(f"The list of what is in the file takes {size:,} bytes, more than {self._most:,}.")
        return super().read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_SET and offset < 0:
            raise BadZipFile("an entry begins before the file")
        return super().seek(offset, whence)


@contextmanager
def _complaints(path: Path) -> Generator[None]:
    """What zip and zstd complain of, in our words."""
    try:
        yield
    except (BadZipFile, zlib.error, zstandard.ZstdError, EOFError, ValueError, NotImplementedError, struct.error) as e:
        raise BadPackage(f"{path.name} is no Anki package, or it is damaged: {e}. {AGAIN}") from None


def _entries(archive: ZipFile, limits: Limits) -> dict[str, ZipInfo]:
    entries = archive.infolist()
    if len(entries) > limits.entries:
        raise BadPackage(f"The file holds {len(entries):,} entries, more than {limits.entries:,}.")
    for entry in entries:
        _check_name(entry.filename)
    return {entry.filename: entry for entry in entries}


def _check_name(name: str) -> None:
    """Nothing is unpacked under the names in a file. Still, who writes such a name means harm."""
    for path in (PurePosixPath(name), PureWindowsPath(name)):
        if ".." in path.parts or path.root or path.drive:
            raise BadPackage(f"The file names {name[:100]!r}, which is outside of it. Do not trust where it came from.")


def _version(archive: ZipFile, entries: dict[str, ZipInfo]) -> int:
    if (meta := entries.get("meta")) is None:
        return 2 if COLLECTIONS[2] in entries else 1
    with _content(archive, meta, 0) as stream:
        version = protobuf.number(protobuf.message(b"".join(_parts(stream, _LONGEST_META, "meta"))), 1)
    if version not in COLLECTIONS:
        raise BadPackage(
            f"The file is of version {version}, and versions 1 to {max(COLLECTIONS)} are known. "
            "Export it again from Anki, with 'Support older Anki versions'."
        )
    return version


@contextmanager
def _content(archive: ZipFile, entry: ZipInfo, version: int) -> Generator[IO[bytes]]:
    if entry.flag_bits & _ENCRYPTED or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise BadPackage(f"{entry.filename} is encrypted, or compressed in a way that Anki does not use. {AGAIN}")
    with archive.open(entry) as stream:
        if version == _ZSTD:
            zstd: Any = zstandard.ZstdDecompressor(max_window_size=_WIDEST_WINDOW)
            with zstd.stream_reader(stream) as plain:
                yield plain
        else:
            yield stream


def _parts(stream: IO[bytes], most: int, name: str) -> Generator[bytes]:
    """What a stream holds, as long as it is not more than `most`: sizes in a file are not to be trusted."""
    left = most
    while part := stream.read(MEBIBYTE):
        left -= len(part)
        if left < 0:
            raise BadPackage(f"The {name} in the file unpacks to more than {most:,} bytes, which is not taken.")
        yield part


_NAMES = TypeAdapter(dict[str, str])


def _media(archive: ZipFile, entry: ZipInfo | None, version: int, limits: Limits) -> tuple[str, ...]:
    if entry is None:
        return ()
    with _content(archive, entry, version) as stream:
        listed = b"".join(_parts(stream, limits.media_bytes, "list of media"))
    names = _from_messages(listed) if version == _ZSTD else _from_json(listed)
    for name in names:
        _check_name(name)
    return tuple(names)


def _from_messages(listed: bytes) -> list[str]:
    each = protobuf.message(listed).get(1, [])
    return [protobuf.text(protobuf.message(one), 1) for one in each if isinstance(one, bytes)]


def _from_json(listed: bytes) -> list[str]:
    try:
        return list(_NAMES.validate_json(listed or b"{}").values())
    except ValidationError:
        raise BadPackage(f"The list of media in the file cannot be read. {AGAIN}") from None
