"""Projects, and what they hold."""

from typing import Any

from mcp_atl.answers.listing import Listing
from mcp_atl.answers.users import short_user
from mcp_atl.client.connection import Json, SiteConnection
from mcp_atl.client.jira import jira
from mcp_atl.client.json_values import at, list_at
from mcp_atl.command import CommandCall
from mcp_atl.tools.listings.paging import listing, page_of, required_option, start_of
from toolcharter import InvalidArguments


async def list_projects(call: CommandCall[Any]) -> Listing:
    """Projects that the user sees."""
    options = call.parameters
    page = await jira(call.connection).projects(options.text, start_of(call), options.limit)
    allowed = call.connection.site.projects
    items = [
        {
            "key": one["key"],
            "name": one["name"],
            "type": one.get("projectTypeKey"),
            "lead": short_user(one.get("lead")),
        }
        for one in page.items
        if allowed is None or one["key"] in allowed
    ]
    return listing("projects", page, items)


async def list_issue_types(call: CommandCall[Any]) -> Listing:
    """The issue types that can be created in a project."""
    project = required_option(call, "project", "issue types belong to a project")
    page = await jira(call.connection).create_issue_types(project, start_of(call), call.parameters.limit)
    items: list[Json] = [
        {"id": one["id"], "name": one["name"], "subtask": one.get("subtask") or None, "about": one.get("description")}
        for one in page.items
    ]
    return listing("issue_types", page, items)


async def list_create_fields(call: CommandCall[Any]) -> Listing:
    """The fields that an issue takes when it is created, and which it cannot do without."""
    project = required_option(call, "project", "fields depend on the project")
    wanted = required_option(call, "type", "fields depend on the issue type")
    type_id = await issue_type_id(call.connection, project, wanted)
    page = await jira(call.connection).create_fields(project, type_id, start_of(call), call.parameters.limit)
    return listing("create_fields", page, [short_create_field(one) for one in page.items])


async def issue_type_id(connection: SiteConnection, project: str, name: str) -> str:
    """The id of an issue type of a project, by name or id."""
    page = await jira(connection).create_issue_types(project, 0, 100)
    for one in page.items:
        if name.lower() in (str(one["id"]), one["name"].lower()):
            return str(one["id"])
    names = ", ".join(one["name"] for one in page.items)
    raise InvalidArguments(f"The project {project!r} has no issue type {name!r}. It has: {names}.")


def short_create_field(field: Json) -> Json:
    """A field of a form: what it is called, what it takes, and some of the values that it allows."""
    allowed = [_allowed(one) for one in list_at(field, "allowedValues")]
    return {
        "id": field.get("fieldId") or field.get("key"),
        "name": field.get("name"),
        "required": field.get("required") or None,
        "type": at(field, "schema", "type"),
        "allowed": allowed[:30],
        "more_allowed": len(allowed) - 30 if len(allowed) > 30 else None,  # noqa: PLR2004 - as above
        "default": _allowed(field["defaultValue"]) if isinstance(field.get("defaultValue"), dict) else None,
    }


def _allowed(value: Json) -> Any:
    return value.get("name") or value.get("value") or value.get("key") or value.get("id")


async def list_versions(call: CommandCall[Any]) -> Listing:
    """Versions of a project."""
    project = required_option(call, "project", "versions belong to a project")
    page = await jira(call.connection).versions(project, start_of(call), call.parameters.limit)
    keys = ("id", "name", "description", "startDate", "releaseDate", "released", "archived", "overdue")
    return listing("versions", page, [{key: one.get(key) for key in keys} for one in page.items])


async def list_components(call: CommandCall[Any]) -> Listing:
    """Components of a project."""
    project = required_option(call, "project", "components belong to a project")
    found = await jira(call.connection).components(project)
    items: list[Json] = [
        {"id": one["id"], "name": one["name"], "lead": short_user(one.get("lead")), "about": one.get("description")}
        for one in found
    ]
    return page_of(call, "components", items)
