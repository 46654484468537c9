"""The reports of report, by kind."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp_atl.client.connection import Json
from mcp_atl.command import CommandCall
from mcp_atl.tools.reports.service import sla
from mcp_atl.tools.reports.structure import dependencies, hierarchy
from mcp_atl.tools.reports.times import time_in_status
from mcp_atl.tools.reports.views import views

KINDS: dict[str, Callable[[CommandCall[Any]], Awaitable[Json]]] = {
    "time_in_status": time_in_status,
    "sla": sla,
    "hierarchy": hierarchy,
    "dependencies": dependencies,
    "views": views,
}
