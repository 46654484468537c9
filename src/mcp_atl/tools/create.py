"""create: issues, pages, versions, sprints and customer requests. One function for each kind, in `tools/creations/`."""

from typing import Any

from pydantic import Field

from mcp_atl.answers.listing import Item
from mcp_atl.command import CommandCall, Id, Parameters, writes
from mcp_atl.tools.creations import KINDS
from toolcharter import Example, InvalidArguments


class Create(Parameters):
    """The parameters of create."""

    project: str | None = Field(default=None, description="Key of the Jira project.")
    type: str = Field(default="Task", description="Issue type, such as Task, Bug, Story, Epic or Sub-task.")
    summary: str | None = Field(default=None, description="Of an issue or request: its title.")
    description: str | None = Field(default=None, description="Of an issue, version or request, in Markdown.")
    fields: dict[str, Any] = Field(default={}, description="Further fields by name, such as priority or Story Points.")
    issues: list[dict[str, Any]] = Field(
        default=[], max_length=200, description="Of 'issues': each with summary, type, description and other fields."
    )
    space: str | None = Field(default=None, description="Of a page: key of the space.")
    title: str | None = Field(default=None, description="Of a page.")
    body: str | None = Field(default=None, description="Of a page, in Markdown.")
    parent: Id | None = Field(default=None, description="Of a page: the page above. Of an issue: its parent or epic.")
    template: Id | None = Field(default=None, description="Of a page: begin with this template.")
    draft: bool = Field(default=False, description="Of a page: do not publish it.")
    name: str | None = Field(default=None, description="Of a version or sprint.")
    board: Id | None = Field(default=None, description="Of a sprint: its board.")
    start: str | None = Field(default=None, description="Of a version or sprint: the first day.")
    end: str | None = Field(default=None, description="Of a version (release) or sprint: the last day.")
    goal: str | None = Field(default=None, description="Of a sprint.")
    service_desk: Id | None = Field(default=None, description="Of a request.")
    request_type: Id | None = Field(default=None, description="Of a request: list request_types shows them.")
    dry_run: bool = Field(default=False, description="Check everything and show what would be sent; create nothing.")


@writes(
    Create,
    subject="Kind of what is created; parameters has its contents.",
    choices=tuple(KINDS),
    takes="issue: project, type, summary, description, parent, fields; page: space, title, body, parent; dry_run.",
    task="auto",
    tags=["issues", "pages"],
    examples=[
        Example(
            "What a bug report would send",
            {
                "subject": "issue",
                "parameters": {"project": "APP", "type": "Bug", "summary": "Login fails", "dry_run": True},
                "response_fields": ["dry_run"],
            },
            {"dry_run": True},
        )
    ],
)
async def create(call: CommandCall[Create]) -> Item:
    """Create an issue, page, version, sprint or request.

    Use this to file a bug, open a ticket, task or story, raise a request or write a wiki page; dry_run only checks.

    Returns:
        Its key or id.
    """
    wanted = call.required_subject.lower().replace(" ", "_")
    if wanted not in KINDS:
        raise InvalidArguments(
            f"subject: {call.subject!r} cannot be created. It takes {', '.join(KINDS)}; a project or a space belongs "
            "in parameters.project or parameters.space.",
            fields=("subject",),
        )
    return Item(await KINDS[wanted](call))
