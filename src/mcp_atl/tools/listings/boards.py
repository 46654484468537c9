"""Boards and sprints."""

from typing import Any

from mcp_atl.answers.listing import Listing
from mcp_atl.client.agile import AgileApi
from mcp_atl.client.connection import Json
from mcp_atl.client.json_values import at
from mcp_atl.command import CommandCall
from mcp_atl.tools.listings.paging import listing, required_option, start_of


async def list_boards(call: CommandCall[Any]) -> Listing:
    """Boards, of one project or with a name."""
    options = call.parameters
    page = await AgileApi(call.connection).boards(
        start_of(call), options.limit, project=options.project, name=options.text
    )
    items: list[Json] = [
        {"id": one["id"], "name": one["name"], "type": one["type"], "project": at(one, "location", "projectKey")}
        for one in page.items
    ]
    return listing("boards", page, items)


async def list_sprints(call: CommandCall[Any]) -> Listing:
    """The sprints of a board."""
    board = required_option(call, "board", "sprints belong to a board; list boards shows their ids")
    page = await AgileApi(call.connection).sprints(
        board, start_of(call), call.parameters.limit, state=call.parameters.state
    )
    keys = ("id", "name", "state", "startDate", "endDate", "completeDate", "goal")
    return listing("sprints", page, [{key: one.get(key) for key in keys} for one in page.items])
