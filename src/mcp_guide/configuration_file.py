"""The configuration file: read when it has changed, changed under a lock, and never half written."""

import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from mcp_core import Unavailable, instructions
from mcp_guide.model import Configuration

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


Change = Callable[[Configuration], Configuration]

PATIENCE = 20.0
"""Seconds to wait for another process that is writing."""


class BrokenConfiguration(Unavailable):
    """The file is there and cannot be understood. It is left as it is."""

    default_instruction = f"{instructions.PRESENT_ERROR} {instructions.NO_AUTOMATIC_FIX}"


class _Seen(NamedTuple):
    """What was read, and how the file looked to the system then."""

    signature: tuple[int, int, int] | None
    configuration: Configuration


def default_path() -> Path:
    """Where the configuration is kept when nobody says otherwise."""
    return import_module("platformdirs").user_config_path("toolcharter") / "guide.yaml"


class ConfigurationFile:
    """One YAML file. All methods may be called from any thread, and from several processes at once."""

    def __init__(self, path: Path) -> None:
        """Nothing is read or made yet."""
        self.path = path
        self._seen: _Seen | None = None

    def read(self) -> Configuration:
        """What the file says now. A file that is not there says nothing, and is not made by asking."""
        signature = self._signature()
        seen = self._seen
        if seen is not None and seen.signature == signature:
            return seen.configuration
        configuration = self._parse(self._text())
        # The signature was taken before the text: a change in between is seen by the next read.
        self._seen = _Seen(signature, configuration)
        return configuration

    def change(self, function: Change) -> Configuration:
        """Write what the function makes of the configuration. It sees what is in the file at that moment.

        When it raises, nothing is written.
        """
        # Where the file is a link, the file it leads to is replaced, and the link stays.
        target = Path(os.path.realpath(self.path))
        self._make_folder(target.parent)
        with _locked(target.with_name(f"{target.name}.lock")):
            text = self._text()
            before = self._parse(text)
            after = function(before)
            revised = _shapes().revised(text, before, after)
            if revised != text:
                _replace(target, revised)
        return after

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            raise self._broken(1, f"is not UTF-8 text at byte {error.start}") from None
        except OSError as error:
            raise Unavailable(f"The configuration {self.path} cannot be read: {error.strerror}.") from None

    def _parse(self, text: str) -> Configuration:
        if not text.strip():
            return Configuration()
        yaml_text, shapes = import_module("mcp_guide.yaml_text"), _shapes()
        try:
            return shapes.configuration_from(yaml_text.load(text))
        except yaml_text.YamlError as error:
            raise self._broken(error.line, f"is no YAML: {error}") from None
        except shapes.WrongShape as error:
            field = ".".join(str(step) for step in error.place) or "the file"
            raise self._broken(yaml_text.line_of(text, error.place), f"{field} {error}") from None

    def _broken(self, line: int, problem: str) -> BrokenConfiguration:
        where = f"{self.path}, line {line}"
        return BrokenConfiguration(
            f"The configuration cannot be used. {where}: {problem.rstrip('.')}. The file was left as it is; mend it.",
            message=f"Please mend the configuration file {where}.",
        )

    def _signature(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _make_folder(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"The folder {folder} cannot be made: {error.strerror}.") from None


def _shapes() -> Any:
    """Loaded with the first file, not with the server."""
    return import_module("mcp_guide.configuration_data")


def _replace(target: Path, text: str) -> None:
    """Write the text beside the file, safely to the disk, and then put it in its place in one step."""
    # Who holds the lock is alone, so the name may be fixed; what a killed process left there goes now.
    beside = target.with_name(f".{target.name}.new")
    try:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
        beside.unlink(missing_ok=True)
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor has no path
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(mode)
        beside.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise Unavailable(f"The configuration {target} cannot be written: {error.strerror}.") from None


def _sync_folder(folder: Path) -> None:
    """Make the new name as safe as the text. Windows has no such call."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Be the only one, of all threads and processes, that holds this file. The system lets go of it when we end."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise Unavailable(f"The configuration cannot be changed: {path}: {error.strerror}.") from None
    try:
        _acquire(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: Path) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        with suppress(OSError):
            return _try_lock(descriptor)
        if time.monotonic() > until:
            raise Unavailable(
                f"Another process has been changing the configuration for {PATIENCE:.0f} seconds ({path} is locked).",
                instruction=instructions.suggest_before_retrying("waiting for the other process, or ending it"),
            )
        threading.Event().wait(0.005)
