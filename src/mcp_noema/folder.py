"""The one folder that files are read from and written to, whatever an agent asks for."""

import tempfile
from pathlib import Path

from mcp_core import InvalidArguments, NotFound

_MOST_NAMED = 10


class Folder:
    """A folder, and nothing outside of it: links are followed before a path is judged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    def to_read(self, given: str, *endings: str) -> Path:
        """A file that is there. One of the endings is its own."""
        path = self._inside(given, *endings)
        if path.is_file():
            return path
        there = self._files(*endings)
        named = f"There are {', '.join(map(repr, there))}." if there else "There is no such file in it yet."
        raise NotFound(f"There is no file {given!r} in the folder for files (--files). {named}")

    def to_write(self, given: str, *endings: str) -> Path:
        """A file that may be made. The folder it goes into is there."""
        path = self._inside(given, *endings)
        if not path.parent.is_dir():
            raise NotFound(f"The folder of {given!r} is not there. Make it, or give a name without a folder.")
        if path.is_dir():
            raise InvalidArguments(f"{given!r} is a folder. Give a name for the file.", fields=("path",))
        return path

    def name_of(self, path: Path) -> str:
        """A file as people name it here. Where the folder is, they know who may."""
        return path.relative_to(self._path.expanduser().resolve()).as_posix()

    def _inside(self, given: str, *endings: str) -> Path:
        if not given.lower().endswith(endings):
            raise InvalidArguments(
                f"{given!r} is no Anki file: its name ends in {' or '.join(endings)}.", fields=("path",)
            )
        try:
            folder = self._path.expanduser().resolve()
            path = (folder / given).resolve()
        except (ValueError, OSError, RuntimeError):
            raise InvalidArguments(f"{given!r} cannot be a path.", fields=("path",)) from None
        if not path.is_relative_to(folder) or path == folder:
            raise InvalidArguments(
                f"{given!r} is outside of the folder for files. Give a path in it, such as french{endings[0]}; the "
                "person who starts the server chooses the folder with --files.",
                fields=("path",),
            )
        return path

    def _files(self, *endings: str) -> list[str]:
        """The newest files that could have been meant."""
        found = [path for path in self._path.expanduser().glob("*") if path.name.lower().endswith(endings)]
        newest = sorted((path for path in found if path.is_file()), key=lambda path: path.stat().st_mtime, reverse=True)
        return [path.name for path in newest[:_MOST_NAMED]]

    def move_to_a_temporary_folder(self) -> None:
        """For examples: nothing that a person keeps is touched."""
        self._temporary = tempfile.TemporaryDirectory(prefix="noema-")
        self._path = Path(self._temporary.name)

    def close(self) -> None:
        """Throw a temporary folder away."""
        if self._temporary is not None:
            self._temporary.cleanup()
