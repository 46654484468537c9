"""A user of a real server over a real database, with a clock that tests set."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from mcp_core import App, Settings
from mcp_core.auth import Caller, user
from mcp_noema.app import build
from mcp_noema.model import ClockAndRandom, Dice

MONDAY = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
"""The time at which tests begin."""


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self, now: datetime = MONDAY) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **span: float) -> datetime:
        self.now += timedelta(**span)
        return self.now


class Learner:
    """A user of the server: `await ana("create-deck", name="French")` returns the data of the answer."""

    def __init__(self, app: App, clock: Clock, name: str) -> None:
        self.app, self.clock = app, clock
        self._caller: Caller = user(name, ("*",))
        self.hints: dict[str, Any] = {}
        """Of the last answer."""
        self.answer: dict[str, Any] = {}

    async def __call__(self, tool: str, /, **arguments: Any) -> Any:
        failed = await self._call(tool, arguments)
        assert not failed, self.answer
        return self.answer["data"]

    async def fails(self, tool: str, /, **arguments: Any) -> tuple[str, str]:
        """The type and the message of the error."""
        assert await self._call(tool, arguments), self.answer
        assert self.answer["data"] is None
        return self.answer["error"]["type"], self.answer["error"]["message"]

    async def _call(self, tool: str, arguments: dict[str, Any]) -> bool:
        answer = await self.app.call(tool, arguments, self._caller)
        self.answer = json.loads(answer.text)
        self.hints = self.answer["agentHints"]
        return answer.is_error

    # --- common set-up ---

    async def deck(self, name: str = "French", **preset: Any) -> str:
        made = await self("create-deck", name=name)
        if preset:
            await self("update-deck", deckId=made["deckId"], preset=preset)
        return made["deckId"]

    async def notes(self, deck_id: str, number: int = 1, **more: Any) -> list[str]:
        """Create basic notes, question 1 and so on. Returns their cards."""
        drafts = [{"front": f"question {n}", "back": f"answer {n}", **more} for n in range(1, number + 1)]
        made = await self("create-notes", deckId=deck_id, notes=drafts)
        return [card for outcome in made["outcomes"] for card in outcome["cardIds"]]

    async def answers(self, card_id: str, *grades: str, every: timedelta | None = None) -> None:
        """Answer a card whenever it is due, or at fixed intervals."""
        for grade in grades:
            data = await self("review-card", cardId=card_id, grade=grade, timeTakenMs=5000)
            due = datetime.fromisoformat(data["due"])
            self.clock.now = max(self.clock.now, due) if every is None else self.clock.now + every


@asynccontextmanager
async def open_app(
    db: str, clock: Clock | None = None, dice: Dice | None = None, **settings: Any
) -> AsyncIterator[App]:
    """The server over a database, without fuzz unless there are dice."""
    async with build(Settings(db=db, deadline=60, **settings), ClockAndRandom(clock or Clock(), dice)) as app:
        yield app
