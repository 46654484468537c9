"""delete: for good, with the user's consent to exactly this."""

from typing import Literal

from pydantic import Field

from mcp_atl.answers.listing import Item
from mcp_atl.client.agile import AgileApi
from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import SiteConnection
from mcp_atl.client.jira import jira
from mcp_atl.client.json_values import at, list_at
from mcp_atl.command import CommandCall, CommandEnvironment, Parameters, writes
from mcp_atl.resolve.references import Reference, reference
from mcp_atl.tools.get_page import find_page
from toolcharter import Confirm, Example, InvalidArguments, ToolContext

KINDS = ("issue", "page", "comment", "worklog", "attachment", "sprint", "version")


class Delete(Parameters):
    """The parameters of delete."""

    explicit_action: Literal["DELETE"] = Field(description="Must be 'DELETE', if the user asked for exactly this.")
    of: str | None = Field(default=None, description="Of a comment or worklog: the issue or page that it belongs to.")
    with_subtasks: bool = Field(default=False, description="Of an issue: delete its sub-tasks too.")
    inline: bool = Field(default=False, description="Of a page comment: it is an inline comment.")


async def _target(
    subject: str | None, parameters: Delete | None, ctx: ToolContext, *, server: CommandEnvironment
) -> str:
    """A description of what would be deleted, for the confirmation."""
    if subject is None or parameters is None:
        return "nothing"
    connection = server.sites.connect(parameters.site, ctx)
    return await _describe(connection, reference(subject, "issue"), parameters)


@writes(
    Delete,
    subject="Issue key, page id, or comment:ID, worklog:ID, attachment:ID, sprint:ID, version:ID.",
    takes="of (for a comment or worklog), with_subtasks, inline.",
    tags=["issues", "pages"],
    confirm=Confirm("DELETE", ask="Delete {target}? This cannot be undone.", target=_target),
    examples=[
        Example(
            "Delete an issue",
            {"subject": "APP-4", "parameters": {"explicit_action": "DELETE"}, "response_fields": ["deleted"]},
            {"deleted": "issue APP-4 'Add the ticket to the wallet of the phone' on sandbox"},
        )
    ],
)
async def delete(call: CommandCall[Delete]) -> Item:
    """Delete an issue, page, comment, worklog or file.

    Use this only to get rid of what the user named; nothing brings it back.

    Returns:
        What was deleted.
    """
    wanted, options = (
        reference(call.required_subject, "page" if call.product == "confluence" else "issue"),
        call.parameters,
    )
    described = await _describe(call.connection, wanted, options)
    await _delete(call, wanted)
    return Item({"deleted": described})


async def _describe(connection: SiteConnection, wanted: Reference, options: Delete) -> str:
    api = jira(connection)
    match wanted.kind:
        case "issue":
            issue = await api.issue(wanted.id, fields=["summary", "subtasks"])
            subtasks = list_at(issue, "fields", "subtasks")
            if subtasks and not options.with_subtasks:
                raise InvalidArguments(
                    f"{wanted.id} has {len(subtasks)} sub-tasks, which would go too. Set with_subtasks if the user "
                    "asked for that.",
                    fields=("parameters",),
                )
            also = f" with {len(subtasks)} sub-tasks" if subtasks else ""
            return f"issue {issue['key']} {at(issue, 'fields', 'summary')!r}{also} on {connection.site.name}"
        case "page":
            page = await find_page(confluence(connection), wanted.id, with_body=False)
            return f"page {page.id} {page.title!r} in space {page.space} on {connection.site.name}"
        case "attachment":
            name = at(await api.attachment(wanted.id), "filename") if not wanted.id.startswith("att") else wanted.id
            return f"attachment {wanted.id} {name!r} on {connection.site.name}"
        case "comment" | "worklog":
            if options.of is None:
                raise InvalidArguments(
                    f"parameters.of: is required: the issue or page of the {wanted.kind}.", fields=("parameters",)
                )
            return f"{wanted.kind} {wanted.id} of {options.of} on {connection.site.name}"
        case "sprint":
            return f"sprint {wanted.id} {at(await AgileApi(connection).sprint(wanted.id), 'name')!r}"
        case "version":
            return f"version {wanted.id} {at(await api.version(wanted.id), 'name')!r}"
        case kind:
            raise InvalidArguments(
                f"subject: a {kind} cannot be deleted. It takes {', '.join(KINDS)}.", fields=("subject",)
            )


async def _delete(call: CommandCall[Delete], wanted: Reference) -> None:
    api, options = jira(call.connection), call.parameters
    match wanted.kind:
        case "issue":
            await api.delete_issue(wanted.id, subtasks=options.with_subtasks)
        case "page":
            page = await find_page(confluence(call.connection), wanted.id, with_body=False)
            await confluence(call.connection).delete_page(page.id)
        case "attachment":
            await (
                confluence(call.connection).delete_attachment(wanted.id)
                if wanted.id.startswith("att")
                else api.delete_attachment(wanted.id)
            )
        case "comment":
            owner = reference(str(options.of))
            if owner.kind == "page":
                await confluence(call.connection).delete_comment(wanted.id, inline=options.inline)
            else:
                await api.delete_comment(owner.id, wanted.id)
        case "worklog":
            await api.delete_worklog(reference(str(options.of), "issue").id, wanted.id)
        case "sprint":
            await AgileApi(call.connection).delete_sprint(wanted.id)
        case _:
            await api.delete_version(wanted.id)
