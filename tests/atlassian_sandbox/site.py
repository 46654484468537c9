"""A sandbox with a clock that stands still, and a client for it."""

from datetime import UTC, datetime
from typing import Any

import httpx2

from atlassian_sandbox import Faults, Sandbox, sandbox_app
from atlassian_sandbox.checks import operation
from atlassian_sandbox.http import Kind
from tests.atlassian_sandbox.api_documents import FOLDER, problem

NOW = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
BASE = "https://sandbox.example"


class Site:
    """Sends requests as one user, and gives the JSON of the answers."""

    def __init__(self, kind: Kind, *, user: str = "mia.keller", sandbox: Sandbox | None = None) -> None:
        self.kind: Kind = kind
        self.faults = Faults()
        self.app = sandbox or sandbox_app(kind, clock=lambda: NOW, faults=self.faults)
        self.jira = "/rest/api/3" if kind == "cloud" else "/rest/api/2"
        self.wiki = "/wiki/rest/api" if kind == "cloud" else "/confluence/rest/api"
        self.headers = {"authorization": f"Bearer sandbox-token-{user}"}

    def as_user(self, user: str) -> "Site":
        return Site(self.kind, user=user, sandbox=self.app)

    def rich(self, words: str) -> Any:
        """A text as this kind of Jira takes it."""
        paragraph = {"type": "paragraph", "content": [{"type": "text", "text": words}]}
        return {"type": "doc", "version": 1, "content": [paragraph]} if self.kind == "cloud" else words

    async def send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        headers = {**self.headers, **options.pop("headers", {})}
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(self.app), base_url=BASE) as client:
            response = await client.request(method, path, headers=headers, **options)
        self.check(response)
        return response

    def check(self, response: httpx2.Response) -> None:
        """Compare a successful response with the API documents, where they lie beside the repository."""
        if not (FOLDER.exists() and response.is_success and "json" in response.headers.get("content-type", "")):
            return
        request = response.request
        found = self.app.router.find(request.method, request.url.path)
        if found is not None:
            route, _ = found
            key = operation(route.method, route.path)
            found_problem = problem(self.kind, key, response.status_code, response.json())
            assert found_problem is None, found_problem

    async def ok(self, method: str, path: str, **options: Any) -> Any:
        """The JSON of a request that must succeed."""
        response = await self.send(method, path, **options)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    async def get(self, path: str, **query: Any) -> Any:
        return await self.ok("GET", path, params=query or None)

    async def refused(self, status: int, method: str, path: str, **options: Any) -> Any:
        """The JSON of a request that must be refused with this status."""
        response = await self.send(method, path, **options)
        assert response.status_code == status, f"{method} {path}: {response.status_code} {response.text}"
        return response.json()

    async def search(self, jql: str, **options: Any) -> list[str]:
        """The keys of the issues that a query selects."""
        path = self.jira + ("/search/jql" if self.kind == "cloud" else "/search")
        found = await self.ok("POST", path, json={"jql": jql, "fields": ["summary"], **options})
        return [issue["key"] for issue in found["issues"]]
