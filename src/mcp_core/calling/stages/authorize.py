"""Step 5: the caller must have every permission that the tool declares."""

from mcp_core.calling.records import Call
from mcp_core.errors import PermissionDenied


def authorize(call: Call, permissions: tuple[str, ...]) -> None:
    """Let the call pass, or refuse it without saying anything about the data."""
    if missing := call.request.caller.lacks(permissions):
        names = ", ".join(missing)
        raise PermissionDenied(f"{call.final_name!r} needs the permission {names}, which this caller does not have.")
