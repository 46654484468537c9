"""Which folders have had a file written in them, told by the system, so that not every file has to be asked.

Only Linux tells, through inotify, and only of file systems where all changes pass through this system. Elsewhere
nothing is watched, and whoever needs to know looks at every file.
"""

import ctypes
import os
import struct
import sys
from typing import Any

_NON_BLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_MODIFIED, _PERMITTED, _CLOSED_AFTER_WRITING, _MOVED_TO, _OVERFLOW, _ENDED = 0x2, 0x4, 0x8, 0x80, 0x4000, 0x8000
_ONLY_FOLDERS, _NO_LINKS = 0x0100_0000, 0x0200_0000
_WATCHED = _MODIFIED | _PERMITTED | _CLOSED_AFTER_WRITING | _MOVED_TO | _ONLY_FOLDERS | _NO_LINKS
_EVENT = struct.Struct("iIII")
# ext2 to ext4, XFS, Btrfs, tmpfs, F2FS, ZFS. On a network's or a virtual one, others can write unseen.
_LOCAL = frozenset({0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0xF2F52010, 0x2FC12FC1})


class Changes:
    """Folders that are watched, and those among them that were written in."""

    def __init__(self) -> None:
        self._libc: Any = None
        self._opened = -1
        self._folders: dict[int, str] = {}
        self._devices: dict[int, bool] = {}
        if sys.platform == "linux":
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._opened = self._libc.inotify_init1(_NON_BLOCKING)

    def watch(self, folder: str, path: str, device: int) -> bool:
        """Watch from now on. False where nothing will be told."""
        if self._opened < 0 or not self._is_local(path, device):
            return False
        watch = self._libc.inotify_add_watch(self._opened, os.fsencode(path), _WATCHED)
        if watch < 0:  # such as more watches than the system allows
            return False
        self._folders[watch] = folder
        return True

    def written(self) -> set[str] | None:
        """The folders written in since the last time; None where that is not known."""
        found: set[str] | None = set()
        while self._opened >= 0:
            try:
                data = os.read(self._opened, 65_536)
            except BlockingIOError:
                break
            position = 0
            while position < len(data):
                watch, mask, _, length = _EVENT.unpack_from(data, position)
                position += _EVENT.size + length
                if mask & _OVERFLOW:
                    found = None
                elif mask & _ENDED:
                    self._folders.pop(watch, None)
                elif found is not None and watch in self._folders:
                    found.add(self._folders[watch])
        return found

    def close(self) -> None:
        """Watch nothing any more."""
        if self._opened >= 0:
            os.close(self._opened)
            self._opened = -1

    def _is_local(self, path: str, device: int) -> bool:
        if device not in self._devices:
            answer = ctypes.create_string_buffer(512)
            failed = self._libc.statfs(os.fsencode(path), answer)
            kind = ctypes.c_long.from_buffer(answer).value & 0xFFFF_FFFF
            self._devices[device] = not failed and kind in _LOCAL
        return self._devices[device]
