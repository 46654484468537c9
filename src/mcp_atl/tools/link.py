"""link: issues with each other, with an epic, or with an address; and back apart."""

from pydantic import Field

from mcp_atl.answers.listing import Item
from mcp_atl.client.agile import AgileApi
from mcp_atl.client.connection import Json, SiteConnection
from mcp_atl.client.jira import jira
from mcp_atl.client.json_values import at, list_at
from mcp_atl.command import CommandCall, Parameters, writes
from mcp_atl.resolve.issues import issue_key, issue_keys
from toolcharter import Example, InvalidArguments, NotFound


class Link(Parameters):
    """The parameters of link."""

    to: str = Field(min_length=1, description="The other issue, the epic, or an address such as https://example.com.")
    type: str = Field(default="relates to", description="Such as blocks, is blocked by, duplicates; or epic.")
    title: str | None = Field(default=None, description="The text of a link to an address.")
    remove: bool = Field(default=False, description="Take the link away instead.")


@writes(
    Link,
    subject="Issue key, such as ABC-1.",
    takes="to (issue, epic or address), type (blocks, relates to, ..., epic), title, remove.",
    tags=["issues"],
    idempotent=True,
    examples=[
        Example(
            "One issue blocks another",
            {"subject": "APP-3", "parameters": {"to": "APP-4", "type": "blocks"}, "response_fields": ["key", "type"]},
            {"key": "APP-3", "type": "blocks"},
        )
    ],
)
async def link(call: CommandCall[Link]) -> Item:
    """Link an issue to another issue, an epic or an address.

    Use this to connect issues, fill an epic or add a web link; remove takes a link away.

    Returns:
        What is linked now.
    """
    options = call.parameters
    if options.to.lower().startswith(("http://", "https://")) and "/browse/" not in options.to:
        return Item(await _remote(call, issue_key(call.required_subject)))
    if options.type.strip().lower() in ("epic", "parent"):
        return Item(await _epic(call))
    return Item(await _issues(call, issue_key(call.required_subject), issue_key(options.to)))


async def _issues(call: CommandCall[Link], key: str, other: str) -> Json:
    options, api = call.parameters, jira(call.connection)
    kind, outward = await _link_type(call.connection, options.type)
    if not options.remove:
        # In the site's words, `inwardIssue` does to `outwardIssue` what the outward name says.
        ends = (key, other) if outward else (other, key)
        await api.link_issues(
            {"type": {"name": kind["name"]}, "inwardIssue": {"key": ends[0]}, "outwardIssue": {"key": ends[1]}}
        )
        return {"key": key, "type": kind["outward" if outward else "inward"], "to": other}
    issue = await api.issue(key, fields=["issuelinks"])
    for one in list_at(issue, "fields", "issuelinks"):
        end = one.get("outwardIssue" if outward else "inwardIssue")
        if at(end, "key") == other and at(one, "type", "name") == kind["name"]:
            await api.delete_link(str(one["id"]))
            return {"key": key, "type": kind["outward" if outward else "inward"], "to": other, "removed": True}
    raise NotFound(
        f"{key} has no link {options.type!r} to {other}. get with response_fields ['links'] shows its links."
    )


async def _link_type(connection: SiteConnection, wanted: str) -> tuple[Json, bool]:
    """The kind of link that a name means, and whether it points away from the subject."""
    types, name = await jira(connection).link_types(), wanted.strip().lower()
    for one in types:
        if name in (one["outward"].lower(), one["name"].lower()):
            return one, True
        if name == one["inward"].lower():
            return one, False
    known = ", ".join(dict.fromkeys(word for one in types for word in (one["outward"], one["inward"])))
    raise InvalidArguments(
        f"parameters.type: {wanted!r} is not a link type. It takes: {known}.", fields=("parameters",)
    )


async def _epic(call: CommandCall[Link]) -> Json:
    keys = issue_keys(call.required_subject)
    epic = "none" if call.parameters.remove else issue_key(call.parameters.to)
    await AgileApi(call.connection).move_to_epic(epic, keys)
    return {"key": ", ".join(keys), "type": "epic", "to": None if epic == "none" else epic}


async def _remote(call: CommandCall[Link], key: str) -> Json:
    options, api = call.parameters, jira(call.connection)
    if not options.remove:
        await api.add_remote_link(key, {"object": {"url": options.to, "title": options.title or options.to}})
        return {"key": key, "type": "address", "to": options.to}
    for one in await api.remote_links(key):
        if at(one, "object", "url") == options.to:
            await api.delete_remote_link(key, str(one["id"]))
            return {"key": key, "type": "address", "to": options.to, "removed": True}
    raise NotFound(f"{key} has no link to {options.to!r}. get with include=['remote_links'] shows its links.")
