"""The Jira Software API: boards, sprints, epics and backlogs. The same on Cloud and Data Center but for a few paths."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from mcp_atl.client.connection import Json, ResultPage, SiteConnection, segment
from mcp_atl.client.jira import offset_page
from mcp_atl.client.json_values import at, list_at
from mcp_atl.client.limits import allows_project, check_project, project_of

BASE = "/rest/agile/1.0"


class AgileApi:
    """Boards and sprints of one site."""

    def __init__(self, client: SiteConnection) -> None:
        self.client = client

    async def _check_board(self, board_id: str) -> None:
        if self.client.site.projects is not None:
            found = await self._get(f"/board/{segment(board_id)}")
            for project in await self._projects(found):
                check_project(self.client.site, project)

    async def _projects(self, board: Json) -> list[str]:
        """The projects of a board. Data Center has a request of its own for them."""
        if self.client.site.is_cloud:
            return [str(at(board, "location", "projectKey"))]
        found = await self._get(f"/board/{segment(board['id'])}/project", maxResults=50)
        return [str(project["key"]) for project in list_at(found, "values")] or ["None"]

    async def _is_open(self, board: Json) -> bool:
        site = self.client.site
        return site.projects is None or all(allows_project(site, key) for key in await self._projects(board))

    async def _check_sprint(self, sprint_id: str) -> None:
        if self.client.site.projects is not None:
            found = await self._get(f"/sprint/{segment(sprint_id)}")
            await self._check_board(str(found.get("originBoardId")))

    def _check_issues(self, keys: Sequence[str]) -> None:
        for key in keys:
            check_project(self.client.site, project_of(key))

    async def _get(self, path: str, **query: Any) -> Any:
        return await self.client.send("jira", "GET", BASE + path, query=query)

    async def _write(self, method: str, path: str, json: Any = None) -> Any:
        return await self.client.send("jira", method, BASE + path, json=json)

    async def boards(
        self, start: int, limit: int, *, project: str | None = None, name: str | None = None
    ) -> ResultPage:
        """Boards, of one project or with a name."""
        query = {"startAt": start, "maxResults": limit, "projectKeyOrId": project, "name": name}
        if project is not None:
            check_project(self.client.site, project)
        page = offset_page(await self._get("/board", **query), "values", start)
        is_open = await asyncio.gather(*map(self._is_open, page.items))
        return page._replace(items=[board for board, is_shown in zip(page.items, is_open, strict=True) if is_shown])

    async def board(self, board_id: str) -> Json:
        await self._check_board(board_id)
        return await self._get(f"/board/{segment(board_id)}")

    async def board_filter(self, board_id: str) -> str:
        """The id of the saved search behind a board."""
        await self._check_board(board_id)
        found = await self._get(f"/board/{segment(board_id)}/configuration")
        return str(found["filter"]["id"])

    async def sprints(self, board_id: str, start: int, limit: int, *, state: str | None = None) -> ResultPage:
        """The sprints of a board; `state` is a list such as active,future."""
        await self._check_board(board_id)
        path = f"/board/{segment(board_id)}/sprint"
        return offset_page(await self._get(path, startAt=start, maxResults=limit, state=state), "values", start)

    async def sprint(self, sprint_id: str) -> Json:
        await self._check_sprint(sprint_id)
        return await self._get(f"/sprint/{segment(sprint_id)}")

    async def create_sprint(self, sprint: Mapping[str, Any]) -> Json:
        """Create a sprint on a board."""
        await self._check_board(str(sprint["originBoardId"]))
        return await self._write("POST", "/sprint", dict(sprint))

    async def update_sprint(self, sprint_id: str, changes: Mapping[str, Any]) -> Json:
        """Change some fields of a sprint."""
        await self._check_sprint(sprint_id)
        return await self._write("POST", f"/sprint/{segment(sprint_id)}", dict(changes))

    async def delete_sprint(self, sprint_id: str) -> None:
        """Delete a sprint; its issues go to the backlog."""
        await self._check_sprint(sprint_id)
        await self._write("DELETE", f"/sprint/{segment(sprint_id)}")

    async def move_to_sprint(self, sprint_id: str, keys: Sequence[str]) -> None:
        """Put up to 50 issues into a sprint."""
        self._check_issues(keys)
        await self._check_sprint(sprint_id)
        await self._write("POST", f"/sprint/{segment(sprint_id)}/issue", {"issues": list(keys)})

    async def move_to_backlog(self, keys: Sequence[str]) -> None:
        """Put up to 50 issues into the backlog."""
        self._check_issues(keys)
        await self._write("POST", "/backlog/issue", {"issues": list(keys)})

    async def move_to_epic(self, epic: str, keys: Sequence[str]) -> None:
        """Put up to 50 issues into an epic; the epic 'none' takes them out of theirs."""
        self._check_issues(keys if epic == "none" else [epic, *keys])
        await self._write("POST", f"/epic/{segment(epic)}/issue", {"issues": list(keys)})
