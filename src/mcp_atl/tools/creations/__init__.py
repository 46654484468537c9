"""The things that create can create, by the subject that asks for them."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp_atl.client.connection import Json
from mcp_atl.command import CommandCall
from mcp_atl.tools.creations import issues, pages, planning, service

KINDS: dict[str, Callable[[CommandCall[Any]], Awaitable[Json]]] = {
    "issue": issues.create_issue,
    "issues": issues.create_issues,
    "page": pages.create_page,
    "version": planning.create_version,
    "sprint": planning.create_sprint,
    "request": service.create_request,
}
