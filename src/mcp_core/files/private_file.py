"""Files that only their owner can read, replaced as a whole, and a lock for those who change them."""

import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Replace a file. It has its mode before it has its content, and its owner stays, also if root writes it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)  # with mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        _keep_owner(path, name)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the lock of a folder or a file; other threads and processes wait. A missing file is created."""
    if sys.platform == "win32":
        yield
        return
    import fcntl  # noqa: PLC0415 - Windows does not have it

    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _keep_owner(path: Path, name: str) -> None:
    if sys.platform != "win32" and path.exists():
        owner = path.stat()
        with suppress(PermissionError):
            os.chown(name, owner.st_uid, owner.st_gid)
