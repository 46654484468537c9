"""HTTP routes of an author beside the MCP endpoint."""

from typing import Any

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from mcp_core import DeclarationError
from mcp_core.auth import StaticTokens
from mcp_core.auth.caller import user
from toolcharter import App
from toolcharter.serving.routes import Routes


def app_with_routes() -> App:
    app = App("shop", verifier=StaticTokens({"a": user("ana", ["books:read"]), "b": user("ben", [])}))

    @app.route("/export", permissions=["books:read"])
    async def export(request: Request) -> dict[str, Any]:
        return {"for": request.state.caller.user_id}

    @app.route("/fails")
    def fails(request: Request) -> PlainTextResponse:
        raise RuntimeError("a secret")

    return app


async def test_a_route_passes_the_gates_and_is_recorded():
    app, records = app_with_routes(), list[tuple[str, str]]()
    app.requests.record = lambda method, outcome, *_, status=None, **__: records.append((outcome, status))
    routes = Routes([app], "http://test", phase=lambda: "serving", metrics=lambda: None)
    transport = httpx2.ASGITransport(app=routes.application(None))
    async with app, httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
        allowed = await http.get("/export", headers={"authorization": "Bearer a"})
        assert (allowed.status_code, allowed.json()) == (200, {"for": "ana"})
        denied = await http.get("/export", headers={"authorization": "Bearer b"})
        assert (denied.status_code, denied.json()) == (403, {"error": "/export needs the permission books:read."})
        assert (await http.get("/export")).status_code == 401
        failed = await http.get("/fails", headers={"authorization": "Bearer b"})
        assert (failed.status_code, failed.json()) == (500, {"error": "Internal server error"})
    assert records == [("ok", 200), ("refused", 403), ("refused", 401), ("refused", 500)]


@pytest.mark.parametrize("path", ["export", "/mcp", "/health/mine", "/metrics"])
def test_a_path_that_is_taken_is_refused(path: str):
    with pytest.raises(DeclarationError, match="is not a free path"):
        App("shop").route(path)
