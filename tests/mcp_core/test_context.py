"""What a handler can do with its context."""

from collections.abc import Awaitable, Mapping
from typing import Any

import pytest

from mcp_core.context import ToolContext


@pytest.mark.parametrize("action", ["accept", "decline"])
async def test_a_client_hears_that_the_person_has_finished_at_the_address_that_it_opened(action: str):
    happened: list[str] = []

    async def elicit(params: Mapping[str, Any]) -> Mapping[str, Any]:
        happened.append(params["elicitationId"])
        return {"action": action}

    async def finished() -> None:
        happened.append("finished")

    async def wait(work: Awaitable[Any]) -> None:
        await work

    async def notify(number: str) -> None:
        happened.append(number)

    context = ToolContext("", "", "", "", "", elicit=elicit, wait=wait, notify_complete=notify)
    answer = await context.ask_url("Sign in.", "https://login.example", finished)
    assert answer.is_accepted == (action == "accept")
    number = happened[0]
    assert happened == ([number, "finished", number] if action == "accept" else [number])


async def test_a_form_does_not_ask_for_a_secret():
    asked: list[Any] = []

    async def elicit(params: Any) -> Any:
        asked.append(params)
        return {"action": "accept", "content": {}}

    context = ToolContext("", "", "", "", "", elicit=elicit)
    schema = {"type": "object", "properties": {"password": {"type": "string"}}}
    with pytest.raises(ValueError, match=r"a form must not ask for 'password': .* Use ask_url for secrets"):
        await context.ask_user("Sign in.", schema)
    assert asked == []
