"""Notices which folders had a file written, so that unchanged folders need no stat of every file.

Works on Linux, through inotify, and only on local file systems, where every change passes through this system.
Elsewhere nothing is watched, and the caller must check every file.
"""

import ctypes
import os
import struct
import sys
from typing import Any

_NON_BLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
# Named as in <sys/inotify.h>.
_IN_MODIFY, _IN_ATTRIB, _IN_CLOSE_WRITE, _IN_MOVED_TO = 0x2, 0x4, 0x8, 0x80
_IN_Q_OVERFLOW, _IN_IGNORED, _IN_ONLYDIR, _IN_DONT_FOLLOW = 0x4000, 0x8000, 0x0100_0000, 0x0200_0000
_WATCHED = _IN_MODIFY | _IN_ATTRIB | _IN_CLOSE_WRITE | _IN_MOVED_TO | _IN_ONLYDIR | _IN_DONT_FOLLOW
_EVENT = struct.Struct("iIII")
# ext2 to ext4, XFS, Btrfs, tmpfs, F2FS, ZFS. Network and virtual file systems can change without an event.
_LOCAL_FILE_SYSTEMS = frozenset({0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0xF2F52010, 0x2FC12FC1})


class FolderWatch:
    """Watches folders for written files."""

    def __init__(self) -> None:
        self._libc: Any = None
        self._descriptor = -1
        self._folders: dict[int, str] = {}
        self._local_devices: dict[int, bool] = {}
        if sys.platform == "linux":
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._descriptor = self._libc.inotify_init1(_NON_BLOCKING)

    def watch(self, folder: str, path: str, device: int) -> bool:
        """Start to watch a folder. False if it cannot be watched."""
        if self._descriptor < 0 or not self._is_local(path, device):
            return False
        watch = self._libc.inotify_add_watch(self._descriptor, os.fsencode(path), _WATCHED)
        if watch < 0:  # for example, the system limit of watches is reached
            return False
        self._folders[watch] = folder
        return True

    def take_changed(self) -> set[str] | None:
        """The folders changed since the last call; None if events were lost."""
        changed: set[str] | None = set()
        while self._descriptor >= 0:
            try:
                data = os.read(self._descriptor, 65_536)
            except BlockingIOError:
                break
            position = 0
            while position < len(data):
                watch, mask, _, length = _EVENT.unpack_from(data, position)
                position += _EVENT.size + length
                if mask & _IN_Q_OVERFLOW:
                    changed = None
                elif mask & _IN_IGNORED:
                    self._folders.pop(watch, None)
                elif changed is not None and watch in self._folders:
                    changed.add(self._folders[watch])
        return changed

    def close(self) -> None:
        """Stop watching."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _is_local(self, path: str, device: int) -> bool:
        if device not in self._local_devices:
            buffer = ctypes.create_string_buffer(512)
            failed = self._libc.statfs(os.fsencode(path), buffer)
            kind = ctypes.c_long.from_buffer(buffer).value & 0xFFFF_FFFF
            self._local_devices[device] = not failed and kind in _LOCAL_FILE_SYSTEMS
        return self._local_devices[device]
