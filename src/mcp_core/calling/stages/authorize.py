"""Step 5: the caller must have every permission that the tool declares, and a client that can follow the call."""

from mcp_core.calling.bound import BoundTool
from mcp_core.calling.records import Call
from mcp_core.errors import Conflict, PermissionDenied, TasksUnsupported


def authorize(call: Call, tool: BoundTool) -> None:
    """Let the call pass, or refuse it without saying anything about the data."""
    request = call.request
    if tool.disabled_for and (None in tool.disabled_for or request.caller.key in tool.disabled_for):
        raise PermissionDenied(f"{call.final_name!r} is switched off at the moment.")
    if missing := request.caller.lacks(tool.permissions):
        names = ", ".join(missing)
        raise PermissionDenied(f"{call.final_name!r} needs the permission {names}, which this caller does not have.")
    if tool.task == "always" and request.takes_tasks is False:
        problem = f"{call.final_name!r} runs as a task, and this client cannot follow tasks."
        if request.must_declare:
            raise TasksUnsupported(problem)
        advice = "Use one of protocol 2026-07-28 that has the extension io.modelcontextprotocol/tasks."
        raise Conflict(f"{problem} {advice}")
