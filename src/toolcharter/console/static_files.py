"""The files in static/, here and in packages with pages of their own.

Their path has a digest of all of them, so that a browser may keep them for ever.
"""

import hashlib
import mimetypes
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import find_spec
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

PATH = "/console/static"
PAGES_GROUP = "toolcharter.pages"
"""The entry points of packages with pages: see server_pages."""
_FOR_EVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"


class StaticFiles(NamedTuple):
    """All files by name, and the digest of them all: a module may import another one by its name alone."""

    content: dict[str, bytes]
    digest: str

    def address(self, name: str) -> str:
        """The path of a file. Raises KeyError."""
        return f"{PATH}/{self.digest}/{name}" if name in self.content else self.content[name].decode()


@cache
def static_files() -> StaticFiles:
    """The files as they are installed."""
    content: dict[str, bytes] = {}
    for module in ("toolcharter.console", *(found.module for found in entry_points(group=PAGES_GROUP))):
        found = find_spec(module)
        package = module if found and found.submodule_search_locations else module.rpartition(".")[0]
        folder = files(package).joinpath("static")
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.name in content:
                raise ValueError(f"{package} has a file static/{file.name}, and so has another package")
            if not file.name.startswith((".", "_")):
                content[file.name] = file.read_bytes()
    digest = hashlib.sha256()
    for name, text in sorted(content.items()):
        digest.update(f"{name}\0{len(text)}\0".encode() + text)
    return StaticFiles(content, digest.hexdigest()[:16])


async def answer_file(request: Request) -> Response:
    """A file. One that is asked for under an older digest, as while workers are replaced, is not kept."""
    found = static_files()
    name, digest = request.path_params["name"], request.path_params["digest"]
    if name not in found.content:
        return PlainTextResponse(f"The console has no file {name!r}.", 404)
    etag = f'"{found.digest}"'
    headers = {"ETag": etag, "Cache-Control": _FOR_EVER if digest == found.digest else _ASK_AGAIN}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(found.content[name], media_type=mimetypes.guess_type(name)[0], headers=headers)
