"""Users by name or e-mail. Where several match, the error names them: no guess is ever made."""

import re

from mcp_atl.answers.users import user_id
from mcp_atl.client.connection import Json, SiteConnection
from mcp_atl.client.jira import jira
from toolcharter import InvalidArguments, NotFound

ME = frozenset({"me", "myself", "currentuser()"})
NOBODY = frozenset({"none", "nobody", "unassigned"})
MAX_CANDIDATES = 10

_ACCOUNT_ID = re.compile(r"[0-9a-f]{24}|\d+:[0-9a-f-]{36}|accountid:.+|qm:.+")
"""As Cloud makes them. Nobody is called like this."""


async def find_user(connection: SiteConnection, text: str) -> Json:
    """The user that a name, an e-mail, a user name or an account id means."""
    api, wanted = jira(connection), text.strip().removeprefix("@")
    if wanted.lower() in ME:
        return await api.myself()
    if _ACCOUNT_ID.fullmatch(wanted):
        return await api.user(wanted.removeprefix("accountid:"))
    found = await api.find_users(wanted, 0, 50)
    exact = [user for user in found if wanted.lower() in _names(user)]
    candidates = exact or found
    if not candidates:
        raise NotFound(f"No user matches {text!r}. Search with search_users, or use an account id.")
    if len(candidates) > 1:
        raise InvalidArguments(
            f"{len(candidates)} users match {text!r}: {_candidates(candidates)}. Use the id of the one you mean."
        )
    return candidates[0]


async def find_user_id(connection: SiteConnection, text: str) -> str:
    """The id of that user, as the site's fields have it."""
    return str(user_id(await find_user(connection, text)))


def _names(user: Json) -> set[str]:
    keys = ("displayName", "emailAddress", "name", "key", "accountId")
    return {str(user[key]).lower() for key in keys if user.get(key)}


def _candidates(users: list[Json]) -> str:
    named = [f"{user.get('displayName')} ({user_id(user)})" for user in users[:MAX_CANDIDATES]]
    more = [f"and {len(users) - MAX_CANDIDATES} more"] if len(users) > MAX_CANDIDATES else []
    return ", ".join(named + more)
