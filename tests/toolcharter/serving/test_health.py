"""Health and the other pages: what they say, and to whom."""

import asyncio
from datetime import datetime

import httpx2
import pytest

from mcp_core import App, Settings
from mcp_core.auth import StaticTokens, user
from mcp_core.logs.telemetry import prometheus
from tests.toolcharter.serving.processes import message
from toolcharter.serving.server import Site

BASE = "http://127.0.0.1:8000"
NOWHERE = "redis://127.0.0.1:1/0"


def browse(site: Site) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(site), base_url=BASE)


async def test_readiness_follows_the_site_from_its_start_to_its_end():
    site = Site([App("demo", version="1.0.0", settings=Settings())], BASE)
    async with browse(site) as http:
        before = await http.get("/health/ready")
        async with site.open():
            serving = await http.get("/health/ready")
            site.stop()
            after = await http.get("/health/ready")
            live = await http.get("/health/live")
    assert (before.status_code, before.json()) == (503, {"status": "starting", "dependencies": []})
    assert (serving.status_code, serving.json()) == (200, {"status": "ok", "dependencies": []})
    assert (after.status_code, after.json()) == (503, {"status": "stopping", "dependencies": []})
    assert (live.status_code, live.json()) == (200, {"status": "ok"})


@pytest.mark.requirement("OPS-7")
@pytest.mark.parametrize(("fault", "detail"), [("refused", "ConnectionRefusedError"), ("hung", "no answer in 1 s")])
async def test_a_dependency_that_is_away_or_hung_is_seen_and_its_return_too(monkeypatch, fault: str, detail: str):
    is_away = False
    app = App("demo", version="1.0.0", settings=Settings())

    async def probe() -> None:
        if is_away and fault == "hung":
            await asyncio.Event().wait()
        if is_away:
            raise ConnectionRefusedError("postgresql://ann:s3cret@db")

    app.add_check("database", probe)
    site = Site([app], BASE)
    async with site.open(), browse(site) as http:

        async def look() -> tuple[int, str, dict[str, str]]:
            app._checks["database"]._fresh_until = 0.0  # a second later
            answer = await http.get("/health/ready")
            (dependency,) = answer.json()["dependencies"]
            return answer.status_code, answer.json()["status"], dependency

        first = await look()
        is_away = True
        away, still = await look(), await look()
        health = await http.get("/health")
        is_away = False
        back = await look()
    assert first[:2] == back[:2] == (200, "ok")
    assert away[:2] == (503, "unavailable")
    assert (away[2]["server"], away[2]["name"], away[2]["status"]) == ("demo", "database", "unavailable")
    assert away[2]["detail"] == detail
    assert away[2]["since"] == still[2]["since"]
    assert datetime.fromisoformat(away[2]["since"]).tzinfo is not None
    assert (health.status_code, health.json()["status"]) == (503, "unavailable")


async def test_probes_do_not_become_a_load_on_a_dependency():
    probes = 0
    app = App("demo", version="1.0.0", settings=Settings())

    async def probe() -> None:
        nonlocal probes
        probes += 1

    app.add_check("database", probe)
    await asyncio.gather(*(app.check_health() for _ in range(100)))
    assert probes == 1


async def test_without_redis_a_site_serves_with_less_and_says_so():
    site = Site([App("demo", version="1.0.0", settings=Settings(redis=NOWHERE))], BASE)
    async with site.open(), browse(site) as http:
        answer = await http.get("/health/ready")
    (redis,) = answer.json()["dependencies"]
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert (redis["name"], redis["status"]) == ("redis", "unavailable")


async def test_where_calls_need_a_token_the_pages_do_and_health_says_one_word():
    verifier = StaticTokens({"good": user("ann", ["*"])})
    site = Site([App("demo", version="1.0.0", settings=Settings(), verifier=verifier)], BASE)
    paths = ("/", "/metrics", "/health", "/health/ready", "/health/live")
    async with site.open(), browse(site) as http:
        call = await http.post("/mcp", json=message(1, "add"))
        without = {path: await http.get(path) for path in paths}
        wrong = {path: await http.get(path, headers={"Authorization": "Bearer bad"}) for path in paths}
        right = {path: await http.get(path, headers={"Authorization": "Bearer good"}) for path in paths}
    assert call.status_code == 401
    for answers in (without, wrong):
        assert [answers[path].status_code for path in paths] == [401, 401, 200, 200, 200]
        assert [answers[path].json() for path in paths[2:]] == [{"status": "ok"}] * 3
        assert answers["/metrics"].headers["www-authenticate"].startswith("Bearer")
        assert answers["/metrics"].json()["error_description"] == "Send a valid token: Authorization: Bearer TOKEN"
    assert [answer.status_code for answer in right.values()] == [200] * 5
    assert right["/health"].json() == {"status": "ok", "servers": {"demo": "1.0.0"}}
    assert right["/health/ready"].json() == {"status": "ok", "dependencies": []}
    assert "toolcharter_http_connections" in right["/metrics"].text


@pytest.mark.requirement("OPS-5")
async def test_a_probe_without_a_token_is_not_recorded_as_refused():
    app = App("demo", version="1.0.0", verifier=StaticTokens({"t": user("ann", ())}))
    site = Site([app], BASE)
    async with site.open(), browse(site) as http:
        for path in ("/health", "/health/live", "/health/ready"):
            assert (await http.get(path)).json() == {"status": "ok"}
        assert "toolcharter_requests_total" not in prometheus([app.telemetry])
        await http.get("/metrics")
        assert "toolcharter_requests_total" in prometheus([app.telemetry])
