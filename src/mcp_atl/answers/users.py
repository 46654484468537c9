"""Users, as short objects."""

from typing import Any

from mcp_atl.client.connection import Json

SHAPE = {"id": None, "name": None, "email": None, "active": None, "time_zone": None, "type": None, "username": None}


def short_user(user: Any) -> Json | None:
    """Who it is: id and name. None for nobody."""
    if not user:
        return None
    return {"id": user_id(user), "name": user.get("displayName") or user.get("publicName") or user.get("name")}


def full_user(user: Json) -> Json:
    """A user as the site describes them, without links and pictures."""
    short = short_user(user) or {}
    return short | {
        "email": user.get("emailAddress") or user.get("email"),
        "active": user.get("active", True),
        "time_zone": user.get("timeZone"),
        "type": user.get("accountType") or user.get("type"),
        "username": user.get("name") if "accountId" not in user else None,
    }


def user_id(user: Json) -> str | None:
    """The key of a user at the site: the account id on Cloud, the user name on Data Center."""
    return user.get("accountId") or user.get("name") or user.get("username") or user.get("userKey")
