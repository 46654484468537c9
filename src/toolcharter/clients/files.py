"""The files of clients: read, changed as a whole or not at all, and copied before."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import NamedTuple, cast

from mcp_core.process.start_errors import CannotStart
from toolcharter.clients import editing
from toolcharter.clients.documents.errors import BrokenDocument, CannotEdit
from toolcharter.clients.entry import ServerEntry, read_entry
from toolcharter.clients.known import CLIENTS, KnownClient, Places, Scope

PRIVATE, SHARED = 0o600, 0o644
MAX_COPIES = 3
"""Copies of one file that are kept."""
SCOPES: tuple[Scope, ...] = ("user", "project")


class ClientFile(NamedTuple):
    """A file in which a client has its servers."""

    client: KnownClient
    path: Path

    def read(self) -> list[ServerEntry]:
        """The servers in it; none if it does not exist. Raises CannotStart if it cannot be read."""
        return self.entries(read_text(self.path))

    def entries(self, text: str) -> list[ServerEntry]:
        """The servers in a text of the file. Raises CannotStart if it cannot be read."""
        try:
            servers = editing.read(text, self.client.format).get(self.client.member)
        except BrokenDocument as error:
            raise CannotStart(f"{self.path} cannot be read: {error}") from None
        if not isinstance(servers, dict):
            return []
        entries = cast(dict[str, object], servers).items()
        return [read_entry(name, cast(dict[str, object], one)) for name, one in entries if isinstance(one, dict)]

    def put(self, text: str, entry: ServerEntry) -> str:
        """The text of the file with a server."""
        return editing.put(text, self.client.format, (self.client.member, entry.name), self.client.form(entry))

    def take_out(self, text: str, name: str) -> str:
        """The text of the file without a server."""
        return editing.take_out(text, self.client.format, (self.client.member, name))

    def remove(self, names: Sequence[str]) -> Path | None:
        """Take servers out: put back the text from before they were added, where nothing else has changed since.

        Returns the copy of the text that had them, if one was kept.
        """
        current, member = read_text(self.path), self.client.member
        entries = editing.read(current, self.client.format)[member]

        def add_again(text: str) -> str:
            for name in (name for name in entries if name in names):
                text = editing.put(text, self.client.format, (member, name), entries[name])
            return text

        if restore(self.path, current, add_again):
            return None
        return change(self.path, lambda text: reduce(self.take_out, names, text))

    def show(self, entries: Iterable[ServerEntry]) -> str:
        """Servers as they would be in an empty file."""
        return reduce(self.put, entries, "").rstrip("\n")


def existing_files(places: Places) -> Iterator[ClientFile]:
    """The files of all clients that exist, for this user and this folder."""
    for client in CLIENTS:
        paths = {path: None for scope in SCOPES if (path := client.path(places, scope))}  # once, in the home folder
        for path in paths:
            if path.is_file():
                yield ClientFile(client, path)


def change(path: Path, edit: Callable[[str], str], *, is_shared: bool = False) -> Path | None:
    """Change a file, and keep a copy of what it was. Returns the copy; None if the file is new or stays as it is.

    A new file can be read by its owner only, because it may have secrets, unless it is shared in a project.
    Raises CannotStart, and changes nothing, if the file cannot be read or edited.
    """
    # A file that is kept elsewhere, such as in a repository of settings, stays a link to it.
    path = path.resolve()
    is_new = not path.exists()
    old = read_text(path)
    try:
        new = edit(old)
    except BrokenDocument as error:
        raise CannotStart(f"{path} cannot be read, and was not changed: {error}") from None
    except CannotEdit as error:
        raise CannotStart(f"{path} was not changed: {error}. Add the server by hand: see --print.") from None
    if new == old:
        return None
    copy = None if is_new else _copy(path)
    try:
        _write(path, new, SHARED if is_shared else PRIVATE)
    except CannotStart:
        if copy is not None:
            copy.unlink(missing_ok=True)
        raise
    for old_copy in copies(path)[MAX_COPIES:]:
        old_copy.unlink(missing_ok=True)
    return copy


def copies(path: Path) -> list[Path]:
    """The copies of a file, the newest first."""
    return [file for _, file in sorted(_numbered_copies(path), reverse=True)]


def _numbered_copies(path: Path) -> list[tuple[tuple[str, int], Path]]:
    """The copies of a file, each with its second and its number in that second."""
    pattern = re.compile(rf"{re.escape(path.name)}\.(\d{{8}}-\d{{6}})(?:-(\d+))?\.bak")
    found = [(pattern.fullmatch(file.name), file) for file in path.parent.iterdir()]
    return [((match[1], int(match[2] or 1)), file) for match, file in found if match]


def restore(path: Path, current: str, redo: Callable[[str], str]) -> bool:
    """Undo a change byte for byte: put back the copy from which `redo` makes the current text, if there is one.

    A file that did not exist before the change is removed.
    """
    path = path.resolve()
    for copy in copies(path):
        old = read_text(copy)
        try:
            is_origin = redo(old) == current
        except (BrokenDocument, CannotEdit):
            continue
        if is_origin:
            _write(path, old, PRIVATE)
            return True
    if not copies(path) and redo("") == current:
        path.unlink()
        return True
    return False


def read_text(path: Path) -> str:
    """The text of a file, with its line endings; empty if it does not exist. Raises CannotStart."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise CannotStart(f"{path} cannot be read: byte {error.start} is not UTF-8.") from None
    except OSError as error:
        raise CannotStart(f"{path} cannot be read: {error.strerror}.") from None


def _copy(path: Path) -> Path:
    stamp = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    # Not the first free number: the copy that had it was older than those that are left.
    number = max((number for (second, number), _ in _numbered_copies(path) if second == stamp), default=0) + 1
    copy = path.with_name(f"{path.name}.{stamp}-{number}.bak" if number > 1 else f"{path.name}.{stamp}.bak")
    shutil.copy2(path, copy)
    return copy


def _write(path: Path, text: str, mode: int) -> None:
    """Replace a file at once: a client that reads it sees the old text or the new one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        new = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
            new.chmod(path.stat().st_mode if path.exists() else mode)
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CannotStart(f"{path} cannot be written, and was not changed: {error.strerror}.") from None
