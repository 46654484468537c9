"""Files on their way to a site and from it. They are never in memory as a whole."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from mcp_atl.client.connection import SiteConnection
from mcp_atl.client.errors import SiteUnavailable
from mcp_atl.site import Product
from toolcharter import InvalidArguments

CHUNK = 256 * 1024
MAX_NAME_LENGTH = 150
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\u202a-\u202e\u2066-\u2069]')
"""Characters that a path or a terminal would read as something else."""

ReportBytes = Callable[[int], Awaitable[None]]
"""Takes the number of bytes so far."""


class RemoteFile(NamedTuple):
    """A file at a site, and where it is downloaded."""

    id: str
    name: str
    media_type: str | None
    size: int | None
    product: Product
    path: str
    query: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to send. It can be read once, so that sending it is never repeated."""

    name: str
    content: BinaryIO
    media_type: str
    report: ReportBytes
    fields: Mapping[str, str]
    """Further fields of the form."""


async def save(
    connection: SiteConnection, file: RemoteFile, target: BinaryIO, *, max_bytes: int, report: ReportBytes
) -> int:
    """Write a file as it arrives, and return its size. Raises an error if it is too large or not complete."""
    if file.size is not None and file.size > max_bytes:
        raise too_large(file.name, file.size, max_bytes)
    done = 0
    async with connection.stream(file.product, file.path, file.query) as download:
        async for chunk in download.aiter_bytes(CHUNK):
            done += len(chunk)
            if done > max_bytes:
                raise too_large(file.name, done, max_bytes)
            await asyncio.to_thread(target.write, chunk)
            await report(done)
    if file.size is not None and done != file.size:
        raise SiteUnavailable(f"{file.name!r} did not arrive complete: {done:,} of {file.size:,} bytes. Try again.")
    return done


def too_large(name: str, size: int, max_bytes: int) -> InvalidArguments:
    """The error for a file above the limit."""
    return InvalidArguments(
        f"{name!r} has {size:,} bytes or more; the limit is {max_bytes:,}. Set parameters.max_bytes to allow it.",
        fields=("parameters",),
    )


def local_name(name: str, id: str) -> str:
    """The name of a remote file as a name on this machine: it names no folder and no hidden file."""
    stem, dot, ending = _NOT_IN_NAMES.sub("_", name).strip(" .").rpartition(".")
    if not dot:
        stem, ending = ending, ""
    short = stem.encode()[:MAX_NAME_LENGTH].decode(errors="ignore")
    return f"{short}{dot}{ending[:20]}" if short else f"attachment-{_NOT_IN_NAMES.sub('_', id)}"
