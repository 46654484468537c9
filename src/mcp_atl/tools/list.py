"""list: what there is at a site, from projects to queues. One function for each kind, in `tools/listings/`."""

from pydantic import Field

from mcp_atl.answers.listing import Listing
from mcp_atl.command import CommandCall, Id, ListParameters, reads
from mcp_atl.tools.listings import KINDS
from toolcharter import Example, InvalidArguments


class List(ListParameters):
    """The parameters of list."""

    project: str | None = Field(default=None, description="Of this Jira project, by key.")
    type: str | None = Field(default=None, description="Of this issue type: for create_fields.")
    field: str | None = Field(default=None, description="Of this field, by name or id: for field_options.")
    issue: str | None = Field(default=None, description="Of this issue, by key: for transitions.")
    board: Id | None = Field(default=None, description="Of this board: for sprints.")
    state: str | None = Field(default=None, description="active, future or closed, or several: for sprints.")
    space: str | None = Field(default=None, description="Of this space, by key: for pages and templates.")
    parent: Id | None = Field(default=None, description="Below this page: for pages.")
    service_desk: Id | None = Field(default=None, description="Of this service desk: for queues and request_types.")
    text: str | None = Field(default=None, description="Only names with this text.")


@reads(
    List,
    subject="Kind of what is listed; parameters narrows it down.",
    choices=tuple(KINDS),
    takes="project, type, field, issue, board, state, space, parent, service_desk, text; limit, cursor, format.",
    tags=["issues", "pages"],
    examples=[
        Example(
            "All projects",
            {"subject": "projects", "response_fields": ["key"]},
            {"projects": [{"key": "APP"}, {"key": "FERRY"}, {"key": "HELP"}, {"key": "PEOPLE"}], "total": 4},
        )
    ],
)
async def list(call: CommandCall[List]) -> Listing:  # noqa: A001 - the name of the command
    """List Jira projects, boards, sprints, components, wiki spaces and so on.

    Use this to see which ones exist, and their ids.

    Returns:
        Entries, and next_cursor.
    """
    wanted = call.required_subject.lower().replace(" ", "_").replace("-", "_")
    if wanted not in KINDS:
        raise InvalidArguments(
            f"subject: {call.subject!r} cannot be listed. It takes {', '.join(KINDS)}.", fields=("subject",)
        )
    return await KINDS[wanted](call)
