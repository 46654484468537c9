"""The folder that files are read from and written to. Agents cannot reach files outside of it."""

import tempfile
from pathlib import Path

from mcp_core import InvalidArguments, NotFound

_MAX_FILES = 10
"""How many files an error lists."""


class Folder:
    """A folder that paths cannot leave: links are resolved before a path is checked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    def file_to_read(self, name: str, *endings: str) -> Path:
        """The path of an existing file. Its name must have one of the endings."""
        path = self._resolve(name, *endings)
        if path.is_file():
            return path
        newest = self._newest_files(*endings)
        files = f"The newest files there: {', '.join(map(repr, newest))}." if newest else "There is no Anki file yet."
        raise NotFound(f"The file {name!r} is not in the folder for files (--files). {files}")

    def file_to_write(self, name: str, *endings: str) -> Path:
        """The path of a file to write, in an existing folder."""
        path = self._resolve(name, *endings)
        if not path.parent.is_dir():
            raise NotFound(f"The folder of {name!r} does not exist. Create it, or give a name without a folder.")
        if path.is_dir():
            raise InvalidArguments(f"{name!r} is a folder. Give the name of a file.", fields=("path",))
        return path

    def relative_name(self, path: Path) -> str:
        """The name of a file inside the folder. The path of the folder itself is not shown to agents."""
        return path.relative_to(self._path.expanduser().resolve()).as_posix()

    def _resolve(self, name: str, *endings: str) -> Path:
        if not name.lower().endswith(endings):
            raise InvalidArguments(
                f"{name!r} is not an Anki file: its name must end in {' or '.join(endings)}.", fields=("path",)
            )
        try:
            folder = self._path.expanduser().resolve()
            path = (folder / name).resolve()
        except (ValueError, OSError, RuntimeError):
            raise InvalidArguments(f"{name!r} is not a valid path.", fields=("path",)) from None
        if not path.is_relative_to(folder) or path == folder:
            raise InvalidArguments(
                f"{name!r} is outside of the folder for files. Give a path inside it, such as french{endings[0]}; the "
                "folder is set with --files when the server starts.",
                fields=("path",),
            )
        return path

    def _newest_files(self, *endings: str) -> list[str]:
        matching = [path for path in self._path.expanduser().glob("*") if path.name.lower().endswith(endings)]
        files = [path for path in matching if path.is_file()]
        newest = sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)
        return [path.name for path in newest[:_MAX_FILES]]

    def use_temporary_folder(self) -> None:
        """Work in a new empty folder, for examples, so that no file of the user is touched."""
        self._temporary = tempfile.TemporaryDirectory(prefix="noema-")
        self._path = Path(self._temporary.name)

    def close(self) -> None:
        """Delete the temporary folder."""
        if self._temporary is not None:
            self._temporary.cleanup()
