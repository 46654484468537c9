"""The parts of the generated docs that belong to this server, besides its tools."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

from mcp_noema.app import build
from mcp_noema.model import ClockAndRandom
from mcp_noema.settings import NoemaSettings

LESSON: list[tuple[str, dict[str, Any]]] = [
    ("create-deck", {"name": "Languages::French"}),
    (
        "create-notes",
        {
            "deckId": "deck_2",
            "notes": [
                {"front": "the cheese", "back": "le fromage", "kind": "basic-reversed"},
                {"front": "{{c1::Paris}} is the capital of {{c2::France}}.", "kind": "cloze"},
            ],
        },
    ),
    ("review-next-card", {"deckId": "deck_2"}),
    (
        "review-card",
        {"cardId": "card_1", "deckId": "deck_2", "idempotencyKey": "card_1-1", "next": True, "grade": "good"},
    ),
]


def session() -> str:
    """The first minutes with the learning server: calls, the parts of the answers that matter, and what to do next."""
    morning = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
    app = build(NoemaSettings(db="sqlite:///:memory:", deadline=60), ClockAndRandom(lambda: morning))

    async def learn() -> list[str]:
        lines: list[str] = []
        async with app:
            for name, arguments in LESSON:
                answer = json.loads((await app.call(name, arguments)).text)
                hints = answer["agentHints"]
                data = {key: value for key, value in answer["data"].items() if key not in ("preset", "description")}
                lines += [f"-> {name} {_line(arguments)}", f"<- {_line(data)}"]
                lines += [
                    f"   next: {step['action']} {_line(step.get('data', {}))}{_needs(step)}"
                    for step in hints["suggestedNextActions"]
                ]
                lines += [f"   {hints['reasoning']}", ""]
        return lines

    return "\n".join(["```text", *asyncio.run(learn())[:-1], "```"])


def _needs(step: dict[str, Any]) -> str:
    names = [f"{need['name']} ({', '.join(need.get('choices', ()))})" for need in step.get("needs", ())]
    return f", and needs {' and '.join(names)}".replace(" ()", "") if names else ""


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


PARTS = {"noema-session": session}
