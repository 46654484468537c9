"""Who people are: user_info and search_users."""

from pydantic import Field

from mcp_atl.answers.listing import Item, Listing
from mcp_atl.answers.users import SHAPE, full_user
from mcp_atl.client.confluence import confluence
from mcp_atl.client.jira import jira
from mcp_atl.command import CommandCall, ListParameters, Parameters, reads
from mcp_atl.resolve.users import ME, find_user
from toolcharter import Example


class UserInfo(Parameters):
    """The parameters of user_info."""


class SearchUsers(ListParameters):
    """The parameters of search_users."""

    active_only: bool = Field(default=True, description="Leave out users who can no longer sign in.")
    project: str | None = Field(
        default=None, description="Only users who can be assigned to issues of this project, by key."
    )


@reads(
    UserInfo,
    subject="Name, e-mail or account id. Default: the current user.",
    tags=["users"],
    examples=[
        Example(
            "Who am I?",
            {"response_fields": ["name", "email"]},
            {"name": "Mia Keller", "email": "mia.keller@harbourline.example"},
        )
    ],
)
async def user_info(call: CommandCall[UserInfo]) -> Item:
    """Show who a Jira or wiki user is.

    Use this for one person, or for who you are signed in as.

    Returns:
        Id, name, e-mail and time zone.
    """
    wanted = (call.subject or "me").strip()
    if call.product == "confluence" and wanted.lower() in ME:
        return Item(full_user(await confluence(call.connection).current_user()), SHAPE)
    return Item(full_user(await find_user(call.connection, wanted)), SHAPE)


@reads(
    SearchUsers,
    subject="Part of the name or e-mail of a person.",
    takes="limit, cursor, active_only, project, format.",
    tags=["users"],
    examples=[
        Example(
            "Find a colleague",
            {"subject": "tom", "response_fields": ["name"]},
            {"users": [{"name": "Tomás Silva"}]},
        )
    ],
)
async def search_users(call: CommandCall[SearchUsers]) -> Listing:
    """Find people by part of a name or e-mail.

    Use this to look up users and account ids.

    Returns:
        Users, and next_cursor.
    """
    wanted, options, api = call.required_subject, call.parameters, jira(call.connection)
    start = int(options.cursor or 0)
    if options.project:
        found = await api.assignable_users(wanted, project=options.project, limit=options.limit)
        cursor = None
    else:
        found = await api.find_users(wanted, start, options.limit)
        cursor = str(start + len(found)) if len(found) == options.limit else None
    users = [user for user in found if user.get("active", True) or not options.active_only]
    return Listing("users", [full_user(user) for user in users], cursor, shape=SHAPE)
