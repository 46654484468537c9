"""Service desks, their queues and what customers can ask for."""

from typing import Any

from mcp_atl.answers.listing import Listing
from mcp_atl.client.connection import Json
from mcp_atl.client.service import ServiceApi
from mcp_atl.command import CommandCall
from mcp_atl.tools.listings.paging import listing, required_option, start_of

WHY = "they belong to a service desk; list service_desks shows their ids"


async def list_service_desks(call: CommandCall[Any]) -> Listing:
    """Service desks that the user sees."""
    page = await ServiceApi(call.connection).service_desks(start_of(call), call.parameters.limit)
    allowed = call.connection.site.projects
    items: list[Json] = [
        {"id": str(one["id"]), "project": one.get("projectKey"), "name": one.get("projectName")}
        for one in page.items
        if allowed is None or one.get("projectKey") in allowed
    ]
    return listing("service_desks", page, items)


async def list_queues(call: CommandCall[Any]) -> Listing:
    """The queues of a service desk."""
    desk = required_option(call, "service_desk", WHY)
    page = await ServiceApi(call.connection).queues(desk, start_of(call), call.parameters.limit)
    keys = ("id", "name", "jql", "issueCount")
    return listing("queues", page, [{key: one.get(key) for key in keys} for one in page.items])


async def list_request_types(call: CommandCall[Any]) -> Listing:
    """The types of requests that customers can create."""
    desk = required_option(call, "service_desk", WHY)
    page = await ServiceApi(call.connection).request_types(desk, start_of(call), call.parameters.limit)
    items: list[Json] = [
        {"id": str(one["id"]), "name": one["name"], "about": one.get("description")} for one in page.items
    ]
    return listing("request_types", page, items)
