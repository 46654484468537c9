"""download and upload: the files of issues and pages, to and from one folder."""

import os
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from mcp_atl.answers.issues import short_attachment
from mcp_atl.answers.listing import Listing
from mcp_atl.answers.pages import short_page_attachment
from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import Json
from mcp_atl.client.jira import jira
from mcp_atl.client.transfer import RemoteFile, Upload, local_name, save, too_large
from mcp_atl.command import CommandCall, Parameters, reads, writes
from mcp_atl.resolve.references import Reference, reference
from mcp_atl.tools.get_page import find_page
from toolcharter import Conflict, Example, Image, InvalidArguments, NotFound, ToolError
from toolcharter.files import Folder, new_file, open_file

SHAPE = {"id": None, "name": None, "type": None, "size": None, "path": None}
MAX_AT_ONCE = 20
DEADLINE = 600
MAX_SHOWN = 1_000_000
"""Bytes of all images in one answer."""
IMAGES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
}
"""Images that models can see, by how their files begin. A model refuses one under another name."""
REPORT_EVERY = 1_000_000
"""Bytes between two reports of progress."""

T = TypeVar("T")


class Transfer(Parameters):
    """For commands that move files."""

    max_bytes: int = Field(default=100_000_000, ge=1, le=2_000_000_000, description="Refuse files larger than this.")


class Download(Transfer):
    """The parameters of download."""

    name: str | None = Field(default=None, description="Of an issue or page: only the file with this name.")
    save_as: str | None = Field(
        default=None, min_length=1, max_length=1000, description="Path in the folder for files. Default: its own name."
    )

    show: bool = Field(default=False, description="Also show images (PNG, JPEG, GIF, WebP; 1 MB together).")


class UploadFiles(Transfer):
    """The parameters of upload."""

    files: list[str] = Field(min_length=1, max_length=MAX_AT_ONCE, description="Paths in the folder for files.")
    comment: str | None = Field(default=None, description="Of a page: what is new in this version of the file.")


@reads(
    Download,
    subject="attachment:ID, or an issue or page whose files are wanted.",
    takes="name (one file of it), save_as, show, max_bytes.",
    tags=["issues", "pages", "files"],
    response_time=DEADLINE,
    examples=[
        Example(
            "One file of an issue",
            {"subject": "attachment:12902", "response_fields": ["name", "path"]},
            {"files": [{"name": "payment.log", "path": "payment.log"}]},
        )
    ],
)
async def download(call: CommandCall[Download]) -> Listing:
    """Download attachments into the folder for files.

    Use this when the user wants a file; get lists them.

    Returns:
        Each file with its path.
    """
    options, folder = call.parameters, call.server.files.folder(call.context)
    files = await _remote_files(call)
    if options.save_as is not None and len(files) > 1:
        raise InvalidArguments(
            f"parameters.save_as: is for one file, but {len(files)} were found. Name one with parameters.name.",
            fields=("parameters",),
        )
    if len(files) > MAX_AT_ONCE:
        raise InvalidArguments(
            f"{len(files)} files are too many; at most {MAX_AT_ONCE} at once. Name one with parameters.name.",
            fields=("parameters",),
        )
    progress, shown = _Progress(call, sum(file.size or 0 for file in files)), ShownImages()

    async def fetch(file: RemoteFile) -> Json:
        path = _target(folder, file, options.save_as)
        with new_file(path) as target:
            size = await save(call.connection, file, target, max_bytes=options.max_bytes, report=progress.of(file.name))
        progress.finish(size)
        if options.show:
            shown.add(file.name, path, size)
        return {
            "id": file.id,
            "name": file.name,
            "type": file.media_type,
            "size": size,
            "path": folder.relative_name(path),
        }

    saved = await _each(files, fetch, lambda file: file.name)
    return saved._replace(images=shown.images, notes=[*saved.notes, *shown.notes])


@writes(
    UploadFiles,
    subject="Issue key, page id or address.",
    takes="files (paths in the folder), comment, max_bytes.",
    tags=["issues", "pages", "files"],
    idempotent=False,
    response_time=DEADLINE,
    examples=[
        Example(
            "Attach a file to an issue",
            {"subject": "APP-1", "parameters": {"files": ["notes.txt"]}, "response_fields": ["name"]},
            {"files": [{"name": "notes.txt"}]},
        )
    ],
)
async def upload(call: CommandCall[UploadFiles]) -> Listing:
    """Attach files from the folder for files to an issue or page.

    Use this when the user wants a file there.

    Returns:
        Each attachment with its id.
    """
    options, folder = call.parameters, call.server.files.folder(call.context)
    wanted = _owner(call)
    paths = [folder.file_to_read(name) for name in options.files]
    for path in paths:
        if (size := path.stat().st_size) > options.max_bytes:
            raise too_large(path.name, size, options.max_bytes)
    page = await find_page(confluence(call.connection), wanted.id, with_body=False) if wanted.kind == "page" else None
    progress = _Progress(call, sum(path.stat().st_size for path in paths))
    fields = {"comment": options.comment} if page is not None and options.comment else {}

    async def send(path: Path) -> Json:
        import mimetypes  # noqa: PLC0415 - 5 ms, and few sessions upload a file

        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        with os.fdopen(open_file(path), "rb") as content:
            file = Upload(path.name, content, media_type, progress.of(path.name), fields)
            if page is not None:
                sent = short_page_attachment(await confluence(call.connection).upload(page.id, file))
            else:
                sent = short_attachment(await jira(call.connection).upload(wanted.id, file))
            progress.finish(os.fstat(content.fileno()).st_size)
        return {key: sent[key] for key in ("id", "name", "type", "size")}

    return await _each(paths, send, lambda path: path.name)


class ShownImages:
    """The images of an answer, as many as fit into it."""

    def __init__(self) -> None:
        self.images: list[Image] = []
        self.notes: list[str] = []

    def add(self, name: str, path: Path, size: int) -> None:
        """Show a file that was saved, or note why it is not shown. Only its first bytes say what it is."""
        with path.open("rb") as file:
            start = file.read(12)
        kind = next((kind for kind, pattern in IMAGES.items() if pattern.match(start)), None)
        room = MAX_SHOWN - sum(len(image.data) for image in self.images)
        if kind is None:
            self.notes.append(f"{name}: is not an image that can be shown; it was saved.")
        elif size > room:
            self.notes.append(f"{name}: is too large to be shown ({size:,} bytes, {room:,} left); it was saved.")
        else:
            self.images.append(Image(path.read_bytes(), kind))


class _Progress:
    """Reports the bytes of several files as one."""

    def __init__(self, call: CommandCall[Any], total: int) -> None:
        self._report, self._total = call.context.report_progress, total
        self._finished, self._reported = 0, 0

    def of(self, name: str) -> Callable[[int], Awaitable[None]]:
        """Takes the bytes of one file so far."""

        async def report(done: int) -> None:
            bytes_done = min(self._finished + done, self._total) if self._total else self._finished + done
            if bytes_done - self._reported >= REPORT_EVERY or bytes_done == self._total > self._reported:
                self._reported = bytes_done
                await self._report(bytes_done, self._total or None, name)

        return report

    def finish(self, size: int) -> None:
        """Add a file that is complete."""
        self._finished += size


async def _each(items: Sequence[T], move: Callable[[T], Awaitable[Json]], name: Callable[[T], str]) -> Listing:
    """Move one after the other. One that fails does not hide those that were moved."""
    moved: list[Json] = []
    errors: list[tuple[str, ToolError]] = []
    for item in items:
        try:
            moved.append(await move(item))
        except ToolError as error:
            errors.append((name(item), error))
    if errors and not moved:
        raise errors[0][1]
    return Listing("files", moved, shape=SHAPE, notes=[f"{name}: {error}" for name, error in errors])


def _owner(call: CommandCall[Any]) -> Reference:
    """The issue or page that files belong to."""
    wanted = reference(call.required_subject, "issue" if call.product == "jira" else None)
    if wanted.kind in ("issue", "request", "epic"):
        return Reference("issue", wanted.id)
    if wanted.kind != "page":
        raise InvalidArguments(f"subject: {wanted} has no files; give an issue or a page.", fields=("subject",))
    return wanted


async def _remote_files(call: CommandCall[Download]) -> list[RemoteFile]:
    wanted, name = reference(call.required_subject, "issue" if call.product == "jira" else None), call.parameters.name
    if wanted.kind == "attachment":
        of_page = wanted.id.startswith("att") or call.product == "confluence"
        return [await (confluence(call.connection) if of_page else jira(call.connection)).file(wanted.id)]
    owner = _owner(call)
    if owner.kind == "page":
        api = confluence(call.connection)
        page = await find_page(api, owner.id, with_body=False)
        files = await api.files(page.id, name)
    else:
        files = await jira(call.connection).files(owner.id)
    chosen = [file for file in files if name in (None, file.name)]
    if not chosen:
        names = ", ".join(repr(file.name) for file in files[:MAX_AT_ONCE])
        which = "no files" if name is None else f"no file {name!r}"
        raise NotFound(f"{owner} has {which}.{f' Its files: {names}.' if names else ''}")
    # Of several files with one name, which Jira allows, the newest.
    return chosen if name is None else [max(chosen, key=lambda file: (len(file.id), file.id))]


def _target(folder: Folder, file: RemoteFile, save_as: str | None) -> Path:
    """The path that a file is written to: never that of another one."""
    if save_as is not None:
        path = folder.file_to_write(save_as)
        if path.exists():
            raise Conflict(f"{save_as!r} already exists in the folder for files. Choose another name.")
        return path
    name = local_name(file.name, file.id)
    path, number = folder.file_to_write(name), 1
    while path.exists():
        number += 1
        path = folder.file_to_write(f"{Path(name).stem}-{number}{Path(name).suffix}")
    return path
