"""A server that wants a token on every request, also on the one with which it is listened to."""

import asyncio
from pathlib import Path

import pytest

from mcp_core import Settings
from mcp_core.auth.oauth.clients import OAuthClient
from tests.toolcharter.govern.governed import approve_all, offering
from tests.toolcharter.govern.test_list_changes import follow, repeat
from toolcharter.govern.charter import read_charter
from toolcharter.govern.governor import Governor
from toolcharter.govern.oauth.records import SignIn
from toolcharter.govern.oauth.store import SignInStore

TOKEN = "token-of-the-server"
KINDS = {"new": ("http", ""), "old": ("http", "handshake = true"), "oldest": ("sse", 'transport = "sse"')}


@pytest.mark.requirement("GOV-4", "GOV-6")
@pytest.mark.parametrize("name", KINDS)
async def test_changes_of_a_server_with_a_sign_in_are_passed_on(name: str, tmp_path: Path):
    path = tmp_path / "charter.toml"
    kind, more = KINDS[name]
    with offering(kind, name, TOKEN) as url:
        path.write_text(f'[upstream.{name}]\nurl = "{url}"\noauth = {{}}\n{more}\n', encoding="utf-8")
        sign_in(path, name, url)
        await approve_all(path)
        async with Governor(path, read_charter(path), Settings(), "1").all_tools as app:
            heard: asyncio.Queue[str | None] = asyncio.Queue()
            following = asyncio.create_task(follow(app, heard))
            async with asyncio.timeout(90):
                await repeat(app, f"{name}_add_prompt", heard, "prompts")
            following.cancel()


def sign_in(path: Path, name: str, url: str) -> None:
    client = OAuthClient(client_id="governor", issuer="https://login.example")
    SignInStore(path).save(
        SignIn(
            server=name,
            owner="local",
            address=url,
            resource=url,
            token_endpoint="https://login.example/token",
            client=client,
            access_token=TOKEN,
        )
    )
