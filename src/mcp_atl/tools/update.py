"""update: fields of issues, and parts of pages. What was not named stays as it is."""

from typing import Any

from pydantic import Field

from mcp_atl.answers.listing import Item
from mcp_atl.command import CommandCall, Parameters, writes
from mcp_atl.resolve.references import reference
from mcp_atl.tools.changes import KINDS
from toolcharter import Example, InvalidArguments


class Restriction(Parameters):
    """Who may do something with a page."""

    users: list[str] = Field(default=[], description="By name, e-mail or account id.")
    groups: list[str] = Field(default=[], description="By name.")


class Update(Parameters):
    """The parameters of update."""

    fields: dict[str, Any] = Field(default={}, description="Of an issue: new values by field name; null clears one.")
    add: dict[str, Any] = Field(default={}, description="Of an issue: add to labels, components, versions, watchers.")
    remove: dict[str, Any] = Field(default={}, description="Of an issue: take away from them.")
    section: str | None = Field(default=None, description="Of a page: the section to replace, by heading or number.")
    after: str | None = Field(default=None, description="Of a page: insert body after this section.")
    old_text: str | None = Field(default=None, description="Of a page: exact text that occurs once.")
    new_text: str | None = Field(default=None, description="Of a page: what takes its place.")
    body: str | None = Field(default=None, description="Of a page: Markdown for section, after, append, or the page.")
    append: bool = Field(default=False, description="Of a page: add body at the end.")
    prepend: bool = Field(default=False, description="Of a page: add body at the beginning.")
    replace_page: bool = Field(default=False, description="Of a page: replace its whole text with body.")
    remove_objects: bool = Field(
        default=False, description="Of a page: allow that macros, images and other {{placeholders}} go."
    )
    title: str | None = Field(default=None, description="Of a page, version or sprint.")
    labels: list[str] | None = Field(default=None, description="Of a page: exactly these labels.")
    restrict: dict[str, Restriction] = Field(
        default={}, description="Of a page: who may read and update it; an empty object lifts the restriction."
    )
    version: int | None = Field(default=None, ge=1, description="Of a page: refuse if it is no longer this version.")
    message: str | None = Field(default=None, description="Of a page: the message of the new version.")
    dry_run: bool = Field(default=False, description="Check everything and show what would change; change nothing.")


@writes(
    Update,
    subject="Issue key, page id, address, or sprint:ID, version:ID.",
    takes="issue: fields, add, remove; page: section+body, old_text+new_text, append+body, title, labels; dry_run.",
    task="auto",
    tags=["issues", "pages"],
    examples=[
        Example(
            "Give an issue to somebody",
            {"subject": "APP-3", "parameters": {"fields": {"assignee": "Anna Berg"}}, "response_fields": ["key"]},
            {"key": "APP-3"},
        )
    ],
)
async def update(call: CommandCall[Update]) -> Item:
    """Change an issue, or a part of a page.

    Use this to assign it, set fields such as due date, add labels or watchers, or edit or replace a section or
    exact text of a page. Read the section with get first, and keep its {{placeholders}}.

    Returns:
        What changed, and the version.
    """
    wanted = reference(call.required_subject, "issue" if call.product == "jira" else None)
    if wanted.kind not in KINDS:
        raise InvalidArguments(
            f"subject: a {wanted.kind} cannot be updated. It takes {', '.join(KINDS)}.", fields=("subject",)
        )
    return Item(await KINDS[wanted.kind](call, wanted.id))
