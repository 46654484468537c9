import json
from typing import Annotated

from pydantic import BaseModel, Field, SecretStr

from mcp_core import App, NotFound, SuggestedAction, hints
from tests.mcp_core.declared import Text, query


async def test_the_hints_an_error_carries_reach_the_agent():
    @query({"name": "Emma"})
    async def look_up(name: Text) -> str:
        then = [SuggestedAction(action="look_up", data={"name": "Emma"})]
        raise NotFound(f"No book {name!r}.", hints=hints.for_not_found(then=then, nearest=["Emma"]))

    async with App("test", version="1.0.0", tools=[look_up], format="hints") as app:
        result = json.loads((await app.call("look_up", {"name": "Ema"})).text)
    assert result["error"] == {"type": "NotFoundError", "kind": "business", "message": "No book 'Ema'."}
    assert result["agentHints"]["suggestedNextActions"] == [
        {"action": "look_up", "priority": "medium", "data": {"name": "Emma"}}
    ]


async def test_an_error_that_suggests_a_tool_that_is_not_there_becomes_a_system_error():
    @query({"name": "Emma"})
    async def look_up(name: Text) -> str:
        raise NotFound("No.", hints=hints.for_not_found(then=[SuggestedAction(action="nowhere")]))

    async with App("test", version="1.0.0", tools=[look_up], format="hints") as app:
        result = json.loads((await app.call("look_up", {"name": "Ema"})).text)
    assert result["error"]["type"] == "ResultError"
    assert result["agentHints"]["suggestedNextActions"] == [
        {"action": "look_up", "priority": "high", "data": {"name": "Ema"}}
    ]


class Login(BaseModel):
    name: str = Field(description="Who.")
    pin: SecretStr = Field(description="Their number.")


async def test_a_secret_inside_another_argument_shows_neither_in_the_answer_nor_in_the_log(log):
    @query({"login": {"name": "ann", "pin": "1"}, "note": ""})
    async def sign_in(login: Annotated[Login, Field(description="Who signs in.")], note: Text = "") -> str:
        raise NotFound(f"Nobody has the number {login.pin.get_secret_value()} of {login.name}.")

    async with App("test", version="1.0.0", tools=[sign_in]) as app:
        answer = await app.call("sign_in", {"login": {"name": "ann", "pin": "4711-0815"}})
        short = await app.call("sign_in", {"login": {"name": "ann", "pin": "n"}})
    assert json.loads(answer.text)["error"] == "Nobody has the number [redacted] of ann."
    assert json.loads(short.text)["error"] == "Nobody has the number n of ann."
    assert "4711-0815" not in "\n".join(log.lines)
