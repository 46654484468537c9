"""What belongs to another user and what does not exist: the same answer, by the same work."""

import json
from typing import Any

import pytest

from mcp_core import App
from mcp_core.auth import user
from tests.mcp_noema.learner import Learner
from tests.sql_statements import recorded

NOWHERE = {"deckId": "deck_987654", "noteId": "note_987654", "cardId": "card_987654", "cardIds": ["card_987654"]}


async def asked(app: App, tool: str, arguments: dict[str, Any]) -> tuple[str, list[str]]:
    """Bob's answer without its ids and times, and the SQL that was executed for it."""
    with recorded() as statements:
        answer = await app.call(tool, arguments, user("bob", ("*",)))
    content = json.loads(answer.text)
    del content["metadata"]
    text = json.dumps([answer.is_error, content])
    for name in NOWHERE:
        for one in [arguments[name]] if isinstance(arguments.get(name), str) else arguments.get(name, []):
            text = text.replace(one, name)
    return text, statements


@pytest.mark.requirement("VAL-2", "ERR-2")
async def test_not_yours_cannot_be_told_from_not_there(app: App, ana: Learner, bob: Learner):
    await bob.notes(await bob.deck("Bob's"))
    deck = await ana.deck("Ana's secret")
    (card,) = await ana.notes(deck)
    note = (await ana("get-card", cardId=card))["noteId"]
    hers = {"deckId": deck, "noteId": note, "cardId": card, "cardIds": [card]}
    before = await ana("get-deck", deckId=deck)
    compared = []
    for spec in app.registry.get_all():
        example = dict(spec.examples[0].params)
        if ids := NOWHERE.keys() & example.keys():
            missing = await asked(app, spec.name, example | {name: NOWHERE[name] for name in ids})
            not_yours = await asked(app, spec.name, example | {name: hers[name] for name in ids})
            assert not_yours == missing, spec.name
            assert "secret" not in not_yours[0]
            compared.append(spec.name)
    assert len(compared) > 15
    assert await ana("get-deck", deckId=deck) == before
