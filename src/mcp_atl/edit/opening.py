"""The document of a page, in the format of its site."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from mcp_atl.edit.adf import AdfDocument
from mcp_atl.edit.document import PageDocument
from mcp_atl.edit.storage import StorageDocument
from mcp_atl.site import Kind

MAX_WITHOUT_THREAD = 30_000
"""Characters of a text that takes 25 to 50 ms to convert."""

T = TypeVar("T")


def open_document(kind: Kind, body: Any) -> PageDocument:
    """ADF on Cloud, storage format on Data Center."""
    return AdfDocument(body) if kind == "cloud" else StorageDocument(body)


async def convert(work: Callable[[], T], size: int) -> T:
    """Do the conversion of a text of this size: in a thread if it is long, so that other calls go on meanwhile."""
    return work() if size < MAX_WITHOUT_THREAD else await asyncio.to_thread(work)
