"""The Jira Service Management API: service desks, queues, request types, customer requests and their SLAs."""

from collections.abc import Mapping
from typing import Any

from mcp_atl.client.connection import Json, ResultPage, SiteConnection, segment
from mcp_atl.client.json_values import list_at
from mcp_atl.client.limits import allows_project, check_project, project_of
from toolcharter import NotFound

BASE = "/rest/servicedeskapi"


class ServiceApi:
    """Service desks of one site."""

    def __init__(self, client: SiteConnection) -> None:
        self.client = client

    async def _get(self, path: str, **query: Any) -> Any:
        return await self.client.send("jira", "GET", BASE + path, query=query)

    async def _desk(self, desk: str) -> str:
        """The path of a service desk whose project may be reached."""
        if self.client.site.projects is not None:
            found = await self._get(f"/servicedesk/{segment(desk)}")
            check_project(self.client.site, str(found.get("projectKey")))
        return f"/servicedesk/{segment(desk)}"

    async def _page(self, path: str, start: int, limit: int) -> ResultPage:
        found = await self._get(path, start=start, limit=limit)
        items = list_at(found, "values")
        return ResultPage(items, None if found.get("isLastPage", True) else str(start + len(items)))

    async def service_desks(self, start: int, limit: int) -> ResultPage:
        """All service desks that this user sees."""
        return await self._page("/servicedesk", start, limit)

    async def queues(self, desk: str, start: int, limit: int) -> ResultPage:
        """The queues of a service desk."""
        return await self._page(f"{await self._desk(desk)}/queue", start, limit)

    async def queue_jql(self, queue: str) -> str:
        """The query of a queue. A queue does not name its service desk, so all that may be reached are searched."""
        for desk in await self._all("/servicedesk"):
            if not allows_project(self.client.site, str(desk.get("projectKey"))):
                continue
            for found in await self._all(f"/servicedesk/{segment(desk['id'])}/queue"):
                if str(found["id"]) == queue:
                    return str(found["jql"])
        raise NotFound(f"No service desk has a queue {queue!r}. List queues with list, subject 'queues'.")

    async def _all(self, path: str) -> list[Json]:
        items: list[Json] = []
        start: str | None = "0"
        while start is not None:
            page = await self._page(path, int(start), 50)
            items += page.items
            start = page.next_cursor
        return items

    async def request_types(self, desk: str, start: int, limit: int) -> ResultPage:
        """The types of requests that customers can create."""
        return await self._page(f"{await self._desk(desk)}/requesttype", start, limit)

    async def create_request(self, request: Mapping[str, Any]) -> Json:
        """Create a customer request."""
        await self._desk(str(request["serviceDeskId"]))
        return await self.client.send("jira", "POST", f"{BASE}/request", json=dict(request))

    async def add_internal_comment(self, key: str, body: str) -> Json:
        """Add a comment that customers do not see."""
        check_project(self.client.site, project_of(key))
        path = f"{BASE}/request/{segment(key)}/comment"
        return await self.client.send("jira", "POST", path, json={"body": body, "public": False})

    async def slas(self, key: str, start: int, limit: int) -> ResultPage:
        """The service levels of a request: goal, elapsed and remaining time."""
        check_project(self.client.site, project_of(key))
        return await self._page(f"/request/{segment(key)}/sla", start, limit)
