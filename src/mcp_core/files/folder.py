"""The folder that files are read from and written to. Agents cannot reach files outside of it."""

import os
import secrets
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mcp_core.errors import Conflict, InvalidArguments, NotFound

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
# With O_PATH, which only Linux has, the right to list a folder is not needed.
_FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _NO_LINK

_MAX_FILES = 10
"""How many files an error lists."""


@contextmanager
def open_folder(path: Path) -> Generator[int | None]:
    """A descriptor of a folder. A link in its path is an error: the path was checked before, and had none.

    None on Windows, which has no such descriptors.
    """
    if os.open not in os.supports_dir_fd:
        yield None
        return
    descriptor = _descend(path.absolute())
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _descend(path: Path) -> int:
    descriptor = os.open(path.anchor, _FOLDER_FLAGS)
    for name in path.parts[1:]:
        try:
            child = os.open(name, _FOLDER_FLAGS, dir_fd=descriptor)
        except OSError as error:
            raise _moved(path) from error
        finally:
            os.close(descriptor)
        descriptor = child
    return descriptor


def open_file(path: Path) -> int:
    """A descriptor for reading a file. A link in its path is an error, as above."""
    with open_folder(path.parent) as folder:
        try:
            return os.open(path if folder is None else path.name, os.O_RDONLY | _NO_LINK, dir_fd=folder)
        except OSError as error:
            raise _moved(path) from error


@contextmanager
def new_file(path: Path, *, overwrite: bool = False) -> Generator[BinaryIO]:
    """A file to write. It appears at its path when it is complete; on failure, nothing changes.

    Its folder stays the same, whatever happens to the path meanwhile.
    """
    with open_folder(path.parent) as folder:
        prefix = path.parent if folder is None else Path()
        target, copy = prefix / path.name, prefix / f".part-{secrets.token_hex(8)}"
        try:
            with os.fdopen(_create(copy, folder), "wb") as file:
                yield file
            if not overwrite:
                os.close(_create(target, folder))
            # In the same folder, so that it is one step.
            os.replace(copy, target, src_dir_fd=folder, dst_dir_fd=folder)
        except FileExistsError:
            raise Conflict(f"{path.name!r} already exists. Choose another name, or set overwrite to true.") from None
        finally:
            with suppress(FileNotFoundError):
                os.unlink(copy, dir_fd=folder)


def _create(file: Path, folder: int | None) -> int:
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)


def _moved(path: Path) -> Conflict:
    return Conflict(f"{path.name!r} was moved or replaced while it was used. Nothing was changed; try again.")


class Folder:
    """A folder that paths cannot leave: links are resolved before a path is checked."""

    def __init__(self, path: Path, *, kind: str = "file", example: str = "report.pdf", field: str = "path") -> None:
        """`kind` and `example` are for errors; `field` is the argument that has the name of a file."""
        self._path, self._kind, self._example, self._field = path, kind, example, field
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    def file_to_read(self, name: str, *endings: str) -> Path:
        """The path of an existing file. Its name must have one of the endings, if any are given."""
        path = self._resolve(name, *endings)
        if path.is_file():
            return path
        newest = self._newest_files(*endings)
        files = (
            f"The newest files there: {', '.join(map(repr, newest))}." if newest else f"There is no {self._kind} yet."
        )
        raise NotFound(f"The file {name!r} is not in the folder for files (--files). {files}")

    def file_to_write(self, name: str, *endings: str) -> Path:
        """The path of a file to write, in an existing folder."""
        path = self._resolve(name, *endings)
        if not path.parent.is_dir():
            raise NotFound(f"The folder of {name!r} does not exist. Create it, or give a name without a folder.")
        if path.is_dir():
            raise InvalidArguments(f"{name!r} is a folder. Give the name of a file.", fields=(self._field,))
        return path

    def relative_name(self, path: Path) -> str:
        """The name of a file inside the folder. The path of the folder itself is not shown to agents."""
        return path.relative_to(self._path.expanduser().resolve()).as_posix()

    def _resolve(self, name: str, *endings: str) -> Path:
        if endings and not name.lower().endswith(endings):
            raise InvalidArguments(
                f"{name!r} is not an {self._kind}: its name must end in {' or '.join(endings)}.", fields=(self._field,)
            )
        try:
            folder = self._path.expanduser().resolve()
            path = (folder / name).resolve()
        except (ValueError, OSError, RuntimeError):
            raise InvalidArguments(f"{name!r} is not a valid path.", fields=(self._field,)) from None
        if not path.is_relative_to(folder) or path == folder:
            raise InvalidArguments(
                f"{name!r} is outside of the folder for files. Give a path inside it, such as {self._example}; the "
                "folder is set with --files when the server starts.",
                fields=(self._field,),
            )
        return path

    def _newest_files(self, *endings: str) -> list[str]:
        visible = [path for path in self._path.expanduser().glob("*") if not path.name.startswith(".")]
        files = [path for path in visible if path.name.lower().endswith(endings or "") and path.is_file()]
        newest = sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)
        return [path.name for path in newest[:_MAX_FILES]]

    def use_temporary_folder(self) -> None:
        """Work in a new empty folder, for examples, so that no file of the user is touched."""
        self._temporary = tempfile.TemporaryDirectory(prefix="toolcharter-files-")
        self._path = Path(self._temporary.name)

    def close(self) -> None:
        """Delete the temporary folder."""
        if self._temporary is not None:
            self._temporary.cleanup()
