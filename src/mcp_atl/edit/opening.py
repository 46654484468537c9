"""The document of a page, in the format of its site."""

from typing import Any

from mcp_atl.edit.adf import AdfDocument
from mcp_atl.edit.document import PageDocument
from mcp_atl.edit.storage import StorageDocument
from mcp_atl.site import Kind


def open_document(kind: Kind, body: Any) -> PageDocument:
    """ADF on Cloud, storage format on Data Center."""
    return AdfDocument(body) if kind == "cloud" else StorageDocument(body)
