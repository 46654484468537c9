"""What one caller can get from another's calls, at a real server with tokens and Redis: nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import redis

from mcp_core.calling.stages.idempotency import KEY
from tests.toolcharter.serving.processes import headers, message, started

SERVER = str(Path(__file__).with_name("attacked.py"))
SECRET = "correct-horse-battery"


@pytest.fixture
def url(tmp_path: Path, redis_url: str) -> Iterator[str]:
    tokens = tmp_path / "tokens.json"
    tokens.write_text(json.dumps({f"token-of-{user}": {"user": user, "grants": ["*"]} for user in ("ann", "ben")}))
    options = ["--redis", redis_url, "--redis-timeout", "20", "--tokens", str(tokens)]
    with started(SERVER, "http", "--port", "0", *options) as process:
        yield process.base_url()


def said(url: str, user: str, tool: str, key: str | None = None, **arguments: Any) -> str:
    body = message(1, tool, **arguments)
    body["params"]["_meta"] = body["params"]["_meta"] | ({KEY: key} if key else {})
    sent = headers(tool) | {"Authorization": f"Bearer token-of-{user}"}
    result = httpx2.post(f"{url}/mcp", json=body, headers=sent, timeout=60).json()["result"]
    fields = json.loads(result["content"][0]["text"])
    return fields["error"] if result["isError"] else fields["value"]


@pytest.mark.requirement("VAL-2")
def test_neither_a_cached_answer_nor_a_kept_one_nor_a_secret_gets_to_another(url: str, redis_url: str):
    assert [said(url, user, "look") for user in ("ann", "ben", "ann")] == [
        "the drawer of ann, look 1",
        "the drawer of ben, look 2",
        "the drawer of ann, look 1",
    ]
    unlocked = [said(url, user, "unlock", "k", password="right") for user in ("ann", "ben", "ann")]
    assert unlocked == ["unlocked for ann, call 3", "unlocked for ben, call 4", "unlocked for ann, call 3"]
    for _ in range(2):
        refused = said(url, "ann", "unlock", "k2", password=SECRET)
        assert refused == "[redacted] is not the password of ann"
    # Whoever can read Redis finds no secret argument, no key, no token.
    with redis.Redis.from_url(redis_url, decode_responses=True) as store:
        kept = [name + str(store.get(name)) for name in store.scan_iter() if store.type(name) == "string"]
    assert len(kept) > 4
    assert not [text for text in kept if SECRET in text or "token-of-" in text or ':k"' in text]
