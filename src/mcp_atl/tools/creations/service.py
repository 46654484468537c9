"""Customer requests."""

from typing import Any

from mcp_atl.client.connection import Json
from mcp_atl.client.json_values import at
from mcp_atl.client.service import ServiceApi
from mcp_atl.command import CommandCall
from mcp_atl.tools.creations.options import dry_run_answer, required_options


async def create_request(call: CommandCall[Any]) -> Json:
    """A request, as a customer would make it."""
    desk, kind, summary = required_options(call, "service_desk", "request_type", "summary")
    options = call.parameters
    values: Json = {"summary": summary} | dict(options.fields)
    if options.description is not None:
        values["description"] = options.description
    request = {"serviceDeskId": desk, "requestTypeId": kind, "requestFieldValues": values}
    if options.dry_run:
        return dry_run_answer(request)
    made = await ServiceApi(call.connection).create_request(request)
    return {"key": made["issueKey"], "id": made["issueId"], "status": at(made, "currentStatus", "status")}
