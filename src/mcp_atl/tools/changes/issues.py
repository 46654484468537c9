"""Fields of an issue, what is added to and taken from its lists, and its watchers."""

from collections.abc import Mapping
from typing import Any

from mcp_atl.client.connection import Json
from mcp_atl.client.jira import jira
from mcp_atl.command import CommandCall
from mcp_atl.resolve.times import now_of
from mcp_atl.resolve.users import find_user_id
from mcp_atl.resolve.values import FieldValues
from toolcharter import InvalidArguments

WATCHERS = "watchers"


async def update_issue(call: CommandCall[Any], key: str) -> Json:
    """Set fields, add and remove."""
    options, api = call.parameters, jira(call.connection)
    if not (options.fields or options.add or options.remove):
        raise InvalidArguments(
            "parameters: nothing to update; give fields, add or remove. To change the status, use transition.",
            fields=("parameters",),
        )
    if "status" in options.fields:
        raise InvalidArguments("parameters.fields: status is changed with transition.", fields=("parameters",))
    values = FieldValues(call.connection, now_of(call.context))
    fields = await values.to_site(options.fields)
    update: dict[str, list[Json]] = {}
    for operation, changes in (("add", options.add), ("remove", options.remove)):
        await _list_changes(values, operation, changes, update)
    watching = [await _users(call, options.add), await _users(call, options.remove)]
    if options.dry_run:
        return {"key": key, "dry_run": True, "would_send": {"fields": fields, "update": update}}
    if fields or update:
        await api.update_issue(key, fields, update)
    for user in watching[0]:
        await api.add_watcher(key, user)
    for user in watching[1]:
        await api.remove_watcher(key, user)
    return {"key": key, "changed": sorted({*options.fields, *options.add, *options.remove})}


async def _list_changes(
    values: FieldValues, operation: str, changes: Mapping[str, Any], update: dict[str, list[Json]]
) -> None:
    for name, wanted in changes.items():
        if name == WATCHERS:
            continue
        ((field, items),) = (await values.to_site({name: wanted})).items()
        if not isinstance(items, list):
            raise InvalidArguments(
                f"parameters.{operation}: {name!r} is not a list; set it with parameters.fields.",
                fields=("parameters",),
            )
        update.setdefault(field, []).extend({operation: one} for one in items)  # pyright: ignore[reportUnknownVariableType]


async def _users(call: CommandCall[Any], changes: Mapping[str, Any]) -> list[str]:
    wanted = changes.get(WATCHERS, [])
    names = wanted if isinstance(wanted, list) else [wanted]  # pyright: ignore[reportUnknownVariableType]
    return [await find_user_id(call.connection, str(name)) for name in names]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
