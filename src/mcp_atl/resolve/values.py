"""Values of fields as people write them, in the form that Jira takes: `High` is {"name": "High"} for a priority."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from mcp_atl.client.connection import Json, SiteConnection
from mcp_atl.client.jira import jira
from mcp_atl.client.json_values import at
from mcp_atl.convert.texts import from_markdown
from mcp_atl.resolve.dates import day, duration, moment
from mcp_atl.resolve.fields import STANDARD, Fields
from mcp_atl.resolve.users import NOBODY, find_user_id
from toolcharter import InvalidArguments

_NAMED = frozenset({"priority", "issuetype", "resolution", "security"})
_NAMED_LISTS = frozenset({"components", "fixVersions", "versions"})
_LONG_TEXTS = frozenset({"description", "environment"})
_USERS = frozenset({"assignee", "reporter"})


class FieldValues:
    """Turns values into the site's form, with what the site says about its fields."""

    def __init__(self, connection: SiteConnection, now: datetime) -> None:
        self._connection, self._now = connection, now
        self.fields = Fields(connection)

    async def to_site(self, values: Mapping[str, Any]) -> Json:
        """All values, by the ids of their fields."""
        return dict([await self._one(name, value) for name, value in values.items()])

    async def _one(self, name: str, value: Any) -> tuple[str, Any]:
        field = await self.fields.id_of(name)
        try:
            if field in STANDARD:
                return field, await self._standard(field, value)
            return field, await self._custom(await self.fields.field(name), value)
        except InvalidArguments as error:
            raise InvalidArguments(f"{name}: {error}", fields=("parameters",)) from error

    async def _standard(self, id: str, value: Any) -> Any:  # noqa: PLR0911 - one case each
        if value is None or isinstance(value, dict):
            return cast(Any, value)
        if id in _USERS:
            return await self._user(value)
        if id in _NAMED:
            return {"id": value} if str(value).isdigit() else {"name": str(value)}
        if id in _NAMED_LISTS:
            return [one if isinstance(one, dict) else {"name": str(one)} for one in _list(value)]
        if id in _LONG_TEXTS:
            return from_markdown(self._connection.site, "jira", str(value))
        if id == "labels":
            return [str(one) for one in _list(value)]
        if id in ("parent", "project"):
            return {"id": value} if str(value).isdigit() else {"key": str(value).upper()}
        if id == "duedate":
            return day(str(value), self._now.date())
        if id == "timetracking":
            return {"originalEstimate": duration(str(value))}
        return value

    async def _custom(self, field: Json, value: Any) -> Any:
        kind, items = at(field, "schema", "type"), at(field, "schema", "items")
        if value is None or isinstance(value, dict):
            return cast(Any, value)
        if str(at(field, "schema", "custom") or "").endswith(":gh-sprint"):
            return await self._sprint(value)
        if kind == "array":
            return [await self._typed(field, str(items), one) for one in _list(value)]
        return await self._typed(field, str(kind), value)

    async def _typed(self, field: Json, kind: str, value: Any) -> Any:  # noqa: PLR0911 - one case each
        match kind:
            case "option":
                return {"value": str(value)}
            case "option-with-child":
                parent, _, child = str(value).partition("/")
                return {"value": parent.strip()} | ({"child": {"value": child.strip()}} if child else {})
            case "user":
                return await self._user(value)
            case "group" | "version" | "priority" | "component":
                return {"name": str(value)}
            case "number":
                return _number(value)
            case "date":
                return day(str(value), self._now.date())
            case "datetime":
                return moment(str(value), self._now)
            case "string" if str(at(field, "schema", "custom") or "").endswith(":textarea"):
                return from_markdown(self._connection.site, "jira", str(value))
            case "issuelink":
                return {"key": str(value)}
            case _:
                return value

    async def _user(self, value: Any) -> Json | None:
        if str(value).lower() in NOBODY:
            return None
        return {jira(self._connection).user_field: await find_user_id(self._connection, str(value))}

    async def _sprint(self, value: Any) -> int:
        if str(value).isdigit():
            return int(value)
        raise InvalidArguments(f"{value!r} is not the id of a sprint. List sprints of the board shows the ids.")


def _list(value: Any) -> list[Any]:
    """Several values: a list, or a text with commas."""
    if isinstance(value, list):
        return cast(list[Any], value)
    return [part.strip() for part in str(value).split(",") if part.strip()]


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise InvalidArguments(f"{value!r} is not a number.")
    try:
        return value if isinstance(value, (int, float)) else float(value)
    except ValueError as error:
        raise InvalidArguments(f"{value!r} is not a number.") from error
