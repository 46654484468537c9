"""The zip file around a collection. It is not trusted, and only the parts that are needed are read."""

import io
import struct
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import zstandard
from pydantic import TypeAdapter, ValidationError

from mcp_noema.anki import protobuf
from mcp_noema.anki.limits import MEBIBYTE, ReadLimits
from mcp_noema.anki.package import BadPackage, damaged
from toolcharter.files import open_file

EXPORT_FOR_OLDER = "Export it again from Anki with 'Support older Anki versions'."

COLLECTIONS = {1: "collection.anki2", 2: "collection.anki21", 3: "collection.anki21b"}
"""The entry with the collection, by the version in `meta`. In version 3 it and the media list are zstd-compressed."""
_ZSTD_VERSION = 3
_MAX_META_BYTES = 1024
_MAX_ZSTD_WINDOW = 128 * MEBIBYTE
_ENCRYPTED_FLAG = 1


def extract_collection(path: Path, target: Path, limits: ReadLimits) -> tuple[str, ...]:
    """Write the collection of a package to `target`, and return the names of its media."""
    with _zip_errors(path), _BoundedFile(path, limits.directory_bytes) as file, ZipFile(file) as archive:
        entries = _entries(archive, limits)
        version = _version(archive, entries)
        if (collection := entries.get(COLLECTIONS[version])) is None:
            raise damaged(f"{path.name} contains no collection ({COLLECTIONS[version]}).")
        with _open_entry(archive, collection, version) as stream, target.open("wb") as copy:
            for chunk in _chunks(stream, limits.collection_bytes, "collection"):
                copy.write(chunk)
        return _media_names(archive, entries.get("media"), version, limits)


class _BoundedFile(io.BufferedReader):
    """A file that refuses large reads: zipfile trusts the directory size that a file claims."""

    def __init__(self, path: Path, max_read: int) -> None:
        super().__init__(io.FileIO(open_file(path)))
        self._max_read = max_read

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > self._max_read:
            raise BadPackage(f"The zip directory of the file has {size:,} bytes; at most {self._max_read:,} are read.")
        return super().read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_SET and offset < 0:
            raise BadZipFile("an entry begins before the file")
        return super().seek(offset, whence)


@contextmanager
def _zip_errors(path: Path) -> Generator[None]:
    """Errors of zipfile and zstandard as BadPackage."""
    try:
        yield
    except (BadZipFile, zlib.error, zstandard.ZstdError, EOFError, ValueError, NotImplementedError, struct.error) as e:
        raise damaged(f"{path.name} is not an Anki package, or it is damaged: {e}.") from None


def _entries(archive: ZipFile, limits: ReadLimits) -> dict[str, ZipInfo]:
    entries = archive.infolist()
    if len(entries) > limits.entries:
        raise BadPackage(f"The file has {len(entries):,} entries; at most {limits.entries:,} are read.")
    for entry in entries:
        _check_name(entry.filename)
    return {entry.filename: entry for entry in entries}


def _check_name(name: str) -> None:
    """Nothing is extracted under the names in a file, but a name that leads out of it shows bad intent."""
    for path in (PurePosixPath(name), PureWindowsPath(name)):
        if ".." in path.parts or path.root or path.drive:
            raise BadPackage(
                f"The file contains the path {name[:100]!r}, which points outside of it. Do not trust its source."
            )


def _version(archive: ZipFile, entries: dict[str, ZipInfo]) -> int:
    if (meta := entries.get("meta")) is None:
        return 2 if COLLECTIONS[2] in entries else 1
    with _open_entry(archive, meta, 0) as stream:
        version = protobuf.get_int(protobuf.parse(b"".join(_chunks(stream, _MAX_META_BYTES, "meta"))), 1)
    if version not in COLLECTIONS:
        raise BadPackage(
            f"The file has package version {version}; versions 1 to {max(COLLECTIONS)} are supported. "
            f"{EXPORT_FOR_OLDER}"
        )
    return version


@contextmanager
def _open_entry(archive: ZipFile, entry: ZipInfo, version: int) -> Generator[IO[bytes]]:
    if entry.flag_bits & _ENCRYPTED_FLAG or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise damaged(f"{entry.filename} is encrypted, or compressed in a way that Anki does not use.")
    with archive.open(entry) as stream:
        if version == _ZSTD_VERSION:
            zstd: Any = zstandard.ZstdDecompressor(max_window_size=_MAX_ZSTD_WINDOW)
            with zstd.stream_reader(stream) as plain:
                yield plain
        else:
            yield stream


def _chunks(stream: IO[bytes], max_bytes: int, name: str) -> Generator[bytes]:
    """The content of a stream. The bytes are counted here, because the sizes in a file cannot be trusted."""
    left = max_bytes
    while chunk := stream.read(MEBIBYTE):
        left -= len(chunk)
        if left < 0:
            raise BadPackage(f"The {name} in the file unpacks to more than {max_bytes:,} bytes, which is the limit.")
        yield chunk


_MEDIA_JSON = TypeAdapter(dict[str, str])


def _media_names(archive: ZipFile, entry: ZipInfo | None, version: int, limits: ReadLimits) -> tuple[str, ...]:
    if entry is None:
        return ()
    with _open_entry(archive, entry, version) as stream:
        data = b"".join(_chunks(stream, limits.media_bytes, "list of media"))
    names = _names_from_protobuf(data) if version == _ZSTD_VERSION else _names_from_json(data)
    for name in names:
        _check_name(name)
    return tuple(names)


def _names_from_protobuf(data: bytes) -> list[str]:
    entries = protobuf.parse(data).get(1, [])
    return [protobuf.get_text(protobuf.parse(entry), 1) for entry in entries if isinstance(entry, bytes)]


def _names_from_json(data: bytes) -> list[str]:
    try:
        return list(_MEDIA_JSON.validate_json(data or b"{}").values())
    except ValidationError:
        raise damaged("The list of media in the file cannot be read.") from None
