"""The changes that update can make, by kind."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp_atl.client.connection import Json
from mcp_atl.command import CommandCall
from mcp_atl.tools.changes import issues, pages, planning

KINDS: dict[str, Callable[[CommandCall[Any], str], Awaitable[Json]]] = {
    "issue": issues.update_issue,
    "page": pages.update_page,
    "sprint": planning.update_sprint,
    "version": planning.update_version,
}
