"""move: issues to a sprint, the backlog or another project; pages below another page; copies of pages."""

from typing import Literal

from pydantic import Field

from mcp_atl.answers.listing import Item
from mcp_atl.client.agile import AgileApi
from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import Json
from mcp_atl.client.jira import jira
from mcp_atl.command import CommandCall, Parameters, writes
from mcp_atl.resolve.issues import issue_keys
from mcp_atl.resolve.references import Reference, reference, references
from mcp_atl.tools.get_page import find_page
from toolcharter import Example, InvalidArguments

AT_ONCE = 50


class Move(Parameters):
    """The parameters of move."""

    to: str = Field(min_length=1, description="sprint:ID, backlog, project:KEY, or a page (id, address, page:...).")
    position: Literal["append", "before", "after"] = Field(
        default="append", description="Of a page: below the target, or beside it."
    )
    copy_as: str | None = Field(default=None, description="Of a page: copy it under this title; the original stays.")
    type: str | None = Field(default=None, description="Issue type in the new project, if it differs.")


@writes(
    Move,
    subject="Issue keys (several with commas), or a page.",
    takes="to (sprint:ID, backlog, project:KEY, a page), position, copy_as (title), type.",
    task="auto",
    tags=["issues", "pages"],
    idempotent=True,
    examples=[
        Example(
            "Put an issue back into the backlog",
            {"subject": "APP-3", "parameters": {"to": "backlog"}, "response_fields": ["moved"]},
            {"moved": ["APP-3"]},
        )
    ],
)
async def move(call: CommandCall[Move]) -> Item:
    """Move issues to a sprint, backlog or project, or a page.

    Use this to plan sprints, put a page below another, or with copy_as copy one.

    Returns:
        What was moved, and where to.
    """
    subject, wanted = call.required_subject, call.parameters.to.strip()
    first = references(subject, "issue" if call.product == "jira" else None)[0]
    if first.kind == "page":
        return Item(await _page(call, first.id, reference(wanted)))
    keys = issue_keys(subject)
    if wanted.lower() == "backlog":
        return Item(await _batches(call, keys, None))
    target = reference(wanted, "sprint")
    if target.kind == "sprint":
        return Item(await _batches(call, keys, target.id))
    if target.kind == "project":
        return Item(await _project(call, keys, target.id))
    raise InvalidArguments(
        f"parameters.to: issues cannot be moved to a {target.kind}. It takes sprint:ID, backlog or project:KEY.",
        fields=("parameters",),
    )


async def _batches(call: CommandCall[Move], keys: list[str], sprint: str | None) -> Json:
    api = AgileApi(call.connection)
    for start in range(0, len(keys), AT_ONCE):
        part = keys[start : start + AT_ONCE]
        await (api.move_to_backlog(part) if sprint is None else api.move_to_sprint(sprint, part))
    return {"moved": keys, "to": "backlog" if sprint is None else f"sprint:{sprint}"}


async def _project(call: CommandCall[Move], keys: list[str], project: str) -> Json:
    task = await jira(call.connection).move_to_project(keys, project, call.parameters.type)
    return {"moved": keys, "to": f"project:{project}", "task": task}


async def _page(call: CommandCall[Move], id: str, target: Reference) -> Json:
    options, api = call.parameters, confluence(call.connection)
    if target.kind != "page":
        raise InvalidArguments(
            f"parameters.to: a page is moved to a page, not to a {target.kind}.", fields=("parameters",)
        )
    page, parent = await find_page(api, id, with_body=False), await find_page(api, target.id, with_body=False)
    if options.copy_as:
        made = await api.copy_page(page.id, title=options.copy_as, parent_id=parent.id)
        return {"copied": page.id, "id": made.id, "title": made.title, "below": parent.title}
    await api.move_page(page.id, options.position, parent.id)
    return {"moved": [page.id], "title": page.title, options.position: parent.title}
