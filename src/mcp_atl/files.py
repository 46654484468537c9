"""The folder that files are uploaded from and downloaded to. Each caller over HTTP has one of their own in it."""

import hashlib
from pathlib import Path

from mcp_atl.sites.callers import AUTHORIZATION
from toolcharter import ToolContext
from toolcharter.files import Folder


class CallerFolders:
    """The folders of all callers."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def folder(self, context: ToolContext) -> Folder:
        """The folder for one call. Callers cannot reach each other's files, nor those of who runs the server."""
        path = self._path or _downloads()
        identity = f"{context.user_id or ''}\0{context.headers.get(AUTHORIZATION.lower(), '')}"
        if identity != "\0":
            path = path / "callers" / hashlib.sha256(identity.encode()).hexdigest()[:32]
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Folder(path, field="parameters")

    def keep_in(self, path: Path) -> None:
        """Use another folder."""
        self._path = path


def _downloads() -> Path:
    from platformdirs import user_downloads_path  # noqa: PLC0415 - 2 ms, and not needed with --files

    return user_downloads_path()
