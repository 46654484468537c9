"""Fields and their options, links, transitions, priorities and statuses."""

from typing import Any

from mcp_atl.answers.issues import short_status
from mcp_atl.answers.listing import Listing
from mcp_atl.client.connection import Json
from mcp_atl.client.jira import jira
from mcp_atl.client.json_values import at
from mcp_atl.command import CommandCall
from mcp_atl.resolve.fields import Fields
from mcp_atl.tools.get_details import short_transition
from mcp_atl.tools.listings.paging import page_of, required_option
from mcp_atl.tools.listings.projects import issue_type_id, short_create_field
from toolcharter import InvalidArguments, NotFound


async def list_fields(call: CommandCall[Any]) -> Listing:
    """All fields, with the names that other commands take."""
    items: list[Json] = [
        {
            "id": one["id"],
            "name": one["name"],
            "custom": one.get("custom") or None,
            "type": at(one, "schema", "type"),
            "items": at(one, "schema", "items"),
        }
        for one in await Fields(call.connection).all()
    ]
    return page_of(call, "fields", items)


async def list_field_options(call: CommandCall[Any]) -> Listing:
    """The values that a field takes: in an issue that exists, or in one of a project and type."""
    name = required_option(call, "field", "options belong to a field")
    api, options = jira(call.connection), call.parameters
    wanted = await Fields(call.connection).id_of(name)
    if options.issue:
        field = (await api.edit_fields(options.issue)).get(wanted)
    elif options.project and options.type:
        type_id = await issue_type_id(call.connection, options.project, options.type)
        page = await api.create_fields(options.project, type_id, 0, 200)
        field = next((one for one in page.items if wanted in (one.get("fieldId"), one.get("key"))), None)
    else:
        raise InvalidArguments(
            "parameters: give issue, or project and type: which options a field has depends on them.",
            fields=("parameters",),
        )
    if field is None:
        raise NotFound(f"The field {name!r} cannot be set there. List create_fields shows those that can.")
    allowed = short_create_field({**field, "allowedValues": field.get("allowedValues", [])})
    values = [{"name": one} for one in allowed["allowed"]]
    return page_of(call, "field_options", values)


async def list_link_types(call: CommandCall[Any]) -> Listing:
    """The kinds of links between issues."""
    keys = ("id", "name", "inward", "outward")
    found = await jira(call.connection).link_types()
    return page_of(call, "link_types", [{key: one.get(key) for key in keys} for one in found])


async def list_transitions(call: CommandCall[Any]) -> Listing:
    """The transitions that an issue can take now."""
    key = required_option(call, "issue", "transitions depend on the issue")
    found = await jira(call.connection).transitions(key)
    return page_of(call, "transitions", [short_transition(one) for one in found])


async def list_priorities(call: CommandCall[Any]) -> Listing:
    """All priorities, the most urgent first."""
    found = await jira(call.connection).priorities()
    return page_of(call, "priorities", [{"id": one["id"], "name": one["name"]} for one in found])


async def list_statuses(call: CommandCall[Any]) -> Listing:
    """All statuses, or those of a project by issue type."""
    api = jira(call.connection)
    if call.parameters.project:
        types = await api.project_statuses(call.parameters.project)
        items: list[Json] = [
            {"type": one["name"], **(short_status(status) or {})} for one in types for status in one["statuses"]
        ]
        return page_of(call, "statuses", items)
    found = {one["name"]: short_status(one) or {} for one in await api.statuses()}
    return page_of(call, "statuses", [*found.values()])
