"""Who may answer a confirmation in the console, and how often."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcp_core import App
from tests.mcp_core.audited import audited
from tests.toolcharter.console.live_app import BASE, call, live_app, visited
from tests.toolcharter.console.test_console import csrf_in

TOKENS = {
    "ana-token": {"user": "ana", "grants": ["notes:read", "console:approve"]},
    "ben-token": {"user": "ben", "grants": ["notes:read"]},
    "eve-token": {"user": "eve", "grants": ["notes:read", "console:calls"]},
}
POLICY = """
[roles.reader]
allow = ["notes:read"]
deny = ["console:approve"]

[[members]]
role = "reader"
everyone = true
"""


@pytest.fixture
def tokens_file(tmp_path: Path) -> Path:
    path = tmp_path / "live-tokens.json"
    path.write_text(json.dumps(TOKENS))
    return path


async def waiting(app: App) -> str:
    """The address of the first confirmation that waits."""
    assert app.approvals is not None
    changes = app.approvals.changes.listen(60.0)
    await anext(changes)
    while not (found := await app.approvals.list()):
        await anext(changes)
    await changes.aclose()
    return f"/console/approvals/notes/{found[0].id}"


async def seen_by(http: httpx2.AsyncClient, token: str) -> list[dict[str, Any]]:
    return (await http.get("/console/approvals/list", headers=bearer(token))).json()["waiting"]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.requirement("WEB-3")
async def test_the_caller_and_who_has_the_permission_may_answer_once_and_nobody_else(tmp_path: Path, tokens_file: Path):
    app = live_app(tmp_path, tokens=tokens_file, confirm_in_console="1m", audit=str(tmp_path / "audit.jsonl"))
    async with visited(app) as http, asyncio.timeout(60):
        sent = asyncio.ensure_future(
            call(http, "send_note", {"note": "hi", "password": "hunter2hunter2"}, token="ben-token")
        )
        path, yes = await waiting(app), {"accepted": True}
        (shown,) = await seen_by(http, "ana-token")
        assert shown["arguments"] == {"note": "hi", "password": "[redacted]"}
        assert (shown["caller"], shown["agent"], shown["tool"]) == ("user:ben", "claude 4", "send_note")
        assert [await seen_by(http, "ben-token"), await seen_by(http, "eve-token")] == [[shown], []]
        refused = await http.post(path, json=yes, headers=bearer("eve-token"))
        nobody = await http.post(path, json=yes)
        wrong = await http.post(path, json={"accepted": "yes"}, headers=bearer("ana-token"))
        race = [http.post(path, json={"accepted": n % 2 == 0}, headers=bearer("ana-token")) for n in range(4)]
        answers = await asyncio.gather(*race)
        again = await http.post(path, json=yes, headers=bearer("ben-token"))
        text = (await sent)["result"]["content"][0]["text"]
    assert [one.status_code for one in (refused, nobody, wrong, again)] == [404, 401, 400, 404]
    won = [one.json() for one in answers if one.status_code == 200]
    assert len(won) == 1
    assert ("sent hi" in text) == won[0]["accepted"]
    records = audited(tmp_path / "audit.jsonl")
    call_record = next(record for record in records if record["method"] == "tools/call")
    answer = next(record for record in records if record["method"].startswith("console/"))
    assert call_record["answeredBy"] == answer["caller"] == "user:ana"
    assert (answer["method"], answer["name"]) == (
        "console/confirm" if won[0]["accepted"] else "console/decline",
        "send_note",
    )
    assert (answer["correlationId"], answer["traceId"]) == (call_record["correlationId"], call_record["traceId"])


async def test_a_policy_can_deny_to_confirm_ones_own_calls(tmp_path: Path, tokens_file: Path):
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    app = live_app(tmp_path, tokens=tokens_file, policy=policy, confirm_in_console="1m")
    async with visited(app) as http, asyncio.timeout(60):
        sent = asyncio.ensure_future(call(http, "send_note", {"note": "hi"}, token="ben-token"))
        path = await waiting(app)
        assert await seen_by(http, "ben-token") == []
        assert (await http.post(path, json={"accepted": True}, headers=bearer("ben-token"))).status_code == 404
        sent.cancel()
        await asyncio.gather(sent, return_exceptions=True)


@pytest.mark.requirement("WEB-3")
async def test_a_page_of_another_origin_confirms_nothing(tmp_path: Path):
    app = live_app(tmp_path, confirm_in_console="1m")
    async with visited(app) as http, asyncio.timeout(60):
        sent = asyncio.ensure_future(call(http, "send_note", {"note": "hi"}))
        path, body = await waiting(app), {"accepted": True}
        token = {"X-CSRF-Token": csrf_in((await http.get("/console/approvals")).text)}
        foreign = await http.post(path, json=body, headers=token | {"Origin": "https://evil.example"})
        without_token = await http.post(path, json=body, headers={"Origin": BASE})
        by_get = await http.get(path)
        assert [one.status_code for one in (foreign, without_token, by_get)] == [403, 403, 404]
        assert not sent.done()
        own = await http.post(path, json={"accepted": False}, headers=token | {"Origin": BASE})
        assert own.json() == {"accepted": False}
        assert "did not agree" in (await sent)["result"]["content"][0]["text"]
