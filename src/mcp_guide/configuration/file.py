"""The configuration file: read again when it changes, changed under a lock, never half written."""

import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from mcp_guide.model import Configuration
from toolcharter import Unavailable, instructions

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


Change = Callable[[Configuration], Configuration]

LOCK_TIMEOUT = 20.0
"""Seconds to wait for another process that is writing."""


class InvalidConfiguration(Unavailable):
    """The configuration file is not valid. It is not changed."""

    default_instruction = f"{instructions.PRESENT_ERROR} {instructions.NO_AUTOMATIC_FIX}"


class _CachedRead(NamedTuple):
    """A configuration, and the signature of the file it was read from."""

    signature: tuple[int, int, int] | None
    configuration: Configuration


class ConfigurationFile:
    """One YAML file. Safe for several threads and several processes."""

    def __init__(self, path: Path) -> None:
        """Reads and creates nothing yet."""
        self.path = path
        self._cached: _CachedRead | None = None

    def read(self) -> Configuration:
        """The configuration in the file now. A missing file is an empty configuration; it is not created."""
        signature = self._signature()
        cached = self._cached
        if cached is not None and cached.signature == signature:
            return cached.configuration
        configuration = self._parse(self._read_text())
        # The signature was taken before the text was read: the next read sees a change in between.
        self._cached = _CachedRead(signature, configuration)
        return configuration

    def change(self, function: Change, is_cancelled: Callable[[], bool] = lambda: False) -> Configuration:
        """Write what the function returns for the configuration that is in the file now.

        If it raises, or if nobody waits for the change any more, nothing is written.
        """
        from mcp_guide.configuration.data import revise_text  # noqa: PLC0415 - 14 ms, with YAML

        # If the file is a link, the file it points to is replaced, and the link stays.
        target = Path(os.path.realpath(self.path))
        self._create_folder(target.parent)
        with _locked(target.with_name(f"{target.name}.lock")):
            text = self._read_text()
            before = self._parse(text)
            after = function(before)
            revised = revise_text(text, before, after)
            if is_cancelled():
                raise Unavailable("The change was cancelled, so nothing was written.")
            if revised != text:
                _replace(target, revised)
        return after

    def _read_text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            raise self._invalid(1, f"is not UTF-8 text at byte {error.start}") from None
        except OSError as error:
            raise Unavailable(f"The configuration file {self.path} cannot be read: {error.strerror}.") from None

    def _parse(self, text: str) -> Configuration:
        if not text.strip():
            return Configuration()
        from mcp_guide.configuration import data, yaml_text  # noqa: PLC0415 - 14 ms, with YAML

        try:
            return data.from_data(yaml_text.load(text))
        except yaml_text.YamlError as error:
            raise self._invalid(error.line, f"is not valid YAML: {error}") from None
        except data.InvalidField as error:
            field = ".".join(str(step) for step in error.path) or "the file"
            raise self._invalid(yaml_text.find_line(text, error.path), f"{field} {error}") from None

    def _invalid(self, line: int, problem: str) -> InvalidConfiguration:
        position = f"{self.path}, line {line}"
        return InvalidConfiguration(
            f"The configuration is not valid. {position}: {problem.rstrip('.')}. Fix the file; it was not changed.",
            message=f"Please fix the configuration file {position}.",
        )

    def _signature(self) -> tuple[int, int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _create_folder(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"The folder {folder} cannot be created: {error.strerror}.") from None


def _replace(target: Path, text: str) -> None:
    """Replace a file atomically: write the text to a file beside it, sync, and rename."""
    # Only the holder of the lock writes, so the name can be fixed. A file left by a killed process is removed.
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
        raise Unavailable(f"The configuration file {target} cannot be written: {error.strerror}.") from None


def _sync_folder(folder: Path) -> None:
    """Sync the renamed entry too. Windows has no such call."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Hold a lock file, exclusive among all threads and processes. The system releases it when the process ends."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise Unavailable(f"The lock file {path} cannot be opened: {error.strerror}.") from None
    try:
        _acquire(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: Path) -> None:
    deadline = time.monotonic() + LOCK_TIMEOUT
    while True:
        with suppress(OSError):
            return _try_lock(descriptor)
        if time.monotonic() > deadline:
            raise Unavailable(
                f"Another process has locked the configuration for {LOCK_TIMEOUT:.0f} seconds: {path}.",
                instruction=instructions.suggest_before_retrying("waiting for the other process, or ending it"),
            )
        threading.Event().wait(0.005)
