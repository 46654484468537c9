"""comment: on issues and pages; add, edit, reply, inline."""

from typing import Literal

from pydantic import Field

from mcp_atl.answers.listing import Item
from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import Json
from mcp_atl.client.jira import jira
from mcp_atl.client.service import ServiceApi
from mcp_atl.command import CommandCall, Id, Parameters, writes
from mcp_atl.convert.texts import from_markdown
from mcp_atl.resolve.references import reference
from mcp_atl.tools.get_page import find_page
from toolcharter import Example, InvalidArguments


class Comment(Parameters):
    """The parameters of comment."""

    body: str = Field(min_length=1, description="The text, in Markdown. Mention: @[Name](accountid:ID).")
    comment_id: Id | None = Field(default=None, description="Change this comment instead of adding one.")
    reply_to: Id | None = Field(default=None, description="Answer this comment of a page.")
    selection: str | None = Field(default=None, description="Comment on exactly this text of a page (inline comment).")
    occurrence: int = Field(default=1, ge=1, description="Which occurrence of the selection is meant.")
    visible_to: str | None = Field(default=None, description="Only for this role or group, as role:NAME or group:NAME.")
    internal: bool = Field(default=False, description="On a customer request: only the team sees it.")


@writes(
    Comment,
    subject="Issue key, page id or address.",
    takes="body (Markdown), comment_id (to edit), reply_to, selection, occurrence, visible_to, internal.",
    tags=["issues", "pages"],
    examples=[
        Example(
            "Comment on an issue",
            {"subject": "APP-1", "parameters": {"body": "Works **now**."}, "response_fields": ["subject"]},
            {"subject": "APP-1"},
        )
    ],
)
async def comment(call: CommandCall[Comment]) -> Item:
    """Comment on an issue or a page.

    Use this to add or edit a comment, reply, mention or ask somebody, or comment on a passage.

    Returns:
        The id of the comment.
    """
    wanted = reference(call.required_subject, "issue" if call.product == "jira" else None)
    if wanted.kind in ("issue", "request", "epic"):
        return Item(await _on_issue(call, wanted.id))
    if wanted.kind == "page":
        return Item(await _on_page(call, wanted.id))
    raise InvalidArguments(f"subject: {wanted} cannot be commented on; give an issue or a page.", fields=("subject",))


async def _on_issue(call: CommandCall[Comment], key: str) -> Json:
    options, api = call.parameters, jira(call.connection)
    if options.reply_to or options.selection:
        raise InvalidArguments(
            "parameters: reply_to and selection are for pages. Comments of issues have no replies: add one.",
            fields=("parameters",),
        )
    body = from_markdown(call.connection.site, "jira", options.body)
    if options.comment_id:
        made = await api.edit_comment(key, options.comment_id, body)
        return {"subject": key, "id": str(made["id"]), "changed": True}
    if not options.internal:
        made = await api.add_comment(key, body, _visibility(options.visible_to))
    elif options.visible_to:
        raise InvalidArguments(
            "parameters: internal and visible_to cannot be combined; the team sees an internal comment.",
            fields=("parameters",),
        )
    elif call.connection.site.is_cloud:
        # The operation for requests takes no formatted text on Cloud; the property has the same effect.
        properties = [{"key": "sd.public.comment", "value": {"internal": True}}]
        made = await api.add_comment(key, body, properties=properties)
    else:
        made = await ServiceApi(call.connection).add_internal_comment(key, body)
    return {"subject": key, "id": str(made["id"])}


async def _on_page(call: CommandCall[Comment], id: str) -> Json:
    options, api = call.parameters, confluence(call.connection)
    body = from_markdown(call.connection.site, "confluence", options.body)
    inline = options.selection is not None
    if options.comment_id:
        made = await api.edit_comment(options.comment_id, body, inline=inline)
        return {"subject": id, "id": str(made["id"]), "changed": True}
    page = await find_page(api, id, with_body=False)
    selection = (
        {"textSelection": options.selection, "textSelectionMatchIndex": options.occurrence - 1} if inline else None
    )
    made = await api.add_comment(page.id, body, reply_to=options.reply_to, selection=selection)
    return {"subject": page.id, "id": str(made["id"])}


def _visibility(text: str | None) -> Json | None:
    if text is None:
        return None
    kind, colon, name = text.partition(":")
    kinds: tuple[Literal["role"], Literal["group"]] = ("role", "group")
    if not colon or kind not in kinds or not name.strip():
        raise InvalidArguments(
            f"parameters.visible_to: {text!r} is neither role:NAME nor group:NAME.", fields=("parameters",)
        )
    return {"type": kind, "value": name.strip()}
