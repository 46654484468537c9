"""transition: an issue along its workflow."""

from typing import Any

from pydantic import Field

from mcp_atl.answers.listing import Item
from mcp_atl.client.connection import Json
from mcp_atl.client.jira import jira
from mcp_atl.client.json_values import at, object_at
from mcp_atl.command import CommandCall, Id, Parameters, writes
from mcp_atl.convert.texts import from_markdown
from mcp_atl.resolve.issues import issue_key
from mcp_atl.resolve.times import now_of
from mcp_atl.resolve.values import FieldValues
from toolcharter import Example, InvalidArguments


class Transition(Parameters):
    """The parameters of transition."""

    to: Id = Field(description="Name or id of the transition, or the status that it leads to.")
    fields: dict[str, Any] = Field(default={}, description="Fields to set with it, such as resolution.")
    comment: str | None = Field(default=None, description="A comment to add with it, in Markdown.")


@writes(
    Transition,
    subject="Issue key, such as ABC-1.",
    takes="to (transition or status, by name or id), fields, comment.",
    task="auto",
    tags=["issues"],
    examples=[
        Example(
            "Begin to work on an issue",
            {"subject": "APP-6", "parameters": {"to": "In Progress"}, "response_fields": ["key", "status"]},
            {"key": "APP-6", "status": "In Progress"},
        )
    ],
)
async def transition(call: CommandCall[Transition]) -> Item:
    """Move an issue along its workflow.

    Use this to start, close, resolve or reopen it: to change its status.

    Returns:
        The key and the new status.
    """
    key, options, api = issue_key(call.required_subject), call.parameters, jira(call.connection)
    chosen = _choose(await api.transitions(key), options.to, key)
    fields = await FieldValues(call.connection, now_of(call.context)).to_site(options.fields)
    missing = [
        one.get("name", field)
        for field, one in object_at(chosen, "fields").items()
        if one.get("required") and not one.get("hasDefaultValue") and field not in fields
    ]
    if missing:
        raise InvalidArguments(
            f"The transition {chosen['name']!r} requires the fields: {', '.join(missing)}. Give them in "
            "parameters.fields; list with subject 'field_options' shows their values.",
            fields=("parameters",),
        )
    update: Json = {}
    if options.comment:
        body = from_markdown(call.connection.site, "jira", options.comment)
        update["comment"] = [{"add": {"body": body}}]
    await api.transition(key, str(chosen["id"]), fields, update)
    return Item({"key": key, "status": at(chosen, "to", "name"), "transition": chosen["name"]})


def _choose(transitions: list[Json], wanted: str, key: str) -> Json:
    """The transition with this id or name, or the only one that leads to this status."""
    name = wanted.strip().lower()
    for matches in (
        [one for one in transitions if str(one["id"]) == name],
        [one for one in transitions if one["name"].lower() == name],
        [one for one in transitions if str(at(one, "to", "name")).lower() == name],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise InvalidArguments(
                f"{len(matches)} transitions of {key} match {wanted!r}: {_named(matches)}. Use an id.",
                fields=("parameters",),
            )
    raise InvalidArguments(
        f"{key} has no transition {wanted!r} now. Available: {_named(transitions) or 'none'}.", fields=("parameters",)
    )


def _named(transitions: list[Json]) -> str:
    return ", ".join(f"{one['name']} (id {one['id']}, to {at(one, 'to', 'name')})" for one in transitions)
