"""Changing many cards at once: set aside, put off, given a day, or begun anew."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated

from pydantic import Field

from mcp_core import Evidence, Example, InvalidArguments, Need, SuggestedAction, ToolContext, tool
from mcp_core.hints import AgentHints, HintWarning, RiskFactor
from mcp_noema.model import CardId, World
from mcp_noema.query import LONGEST, parse
from mcp_noema.query_tree import Everything
from mcp_noema.repositories import Cards, CardSelection, ChangedCards
from mcp_noema.tools.cards import MOST_CARDS
from mcp_noema.tools.vocabulary import SETS, Answer, Arguments, iso, owner

MOST_IN_HINTS = 50
"""How many ids a suggestion repeats; the answer has them all."""
FURTHEST = 36_500


class Choice(Arguments):
    """Which cards: by their ids or by a query."""

    card_ids: Annotated[list[CardId] | None, Field(max_length=MOST_CARDS, description="Or give a query.")] = None
    query: Annotated[str | None, Field(max_length=LONGEST, description="As in search-cards.")] = None

    def chosen(self) -> CardSelection:
        """What the store takes."""
        if bool(self.card_ids) == (self.query is not None):
            raise InvalidArguments("Give cardIds or query, one of the two.", fields=("cardIds", "query"))
        if self.card_ids:
            return list(dict.fromkeys(self.card_ids))
        query = parse(self.query or "")
        if isinstance(query, Everything):
            raise InvalidArguments(
                "query: it is empty, which means all cards. Say which, such as deck:Math; all are deck:*.",
                fields=("query",),
            )
        return query


def _ids(changed: ChangedCards) -> list[CardId]:
    return [CardId.of(number) for number in changed.ids]


def _undo(action: str, ids: Sequence[CardId], **data: bool) -> SuggestedAction:
    """The opposite of a change, with the ids of the cards where they are few."""
    few = len(ids) <= MOST_IN_HINTS
    return SuggestedAction(
        action=action,
        priority="low",
        data={**data, "cardIds": list(ids)} if few else dict(data),
        description="Take it back." if few else "Take it back, with the cardIds of this answer.",
        category="correction",
        reversible=True,
    )


def _for_change(changed: ChangedCards, what: str, then: Sequence[SuggestedAction]) -> AgentHints:
    total = len(changed.ids) + changed.unchanged
    return AgentHints(
        evidence=Evidence(),
        suggested_next_actions=tuple(then),
        why=f"{len(changed.ids)} of {total} cards {what}; the others were so before."
        if changed.unchanged
        else f"{total} cards {what}.",
    )


_STUDY = SuggestedAction(action="review-next-card", description="Study what waits now.", category="learning")


class SuspendCards(Choice):
    """Which cards, and whether they are to be asked."""

    suspend: Annotated[bool, Field(description="false: ask them again.")] = True


@tool(
    **SETS,
    permissions=["cards:write"],
    tags=["cards", "decks", "statistics"],
    examples=[
        Example(
            "Two cards that are too hard for now",
            {"cardIds": ["card_1", "card_2"]},
            {"cardIds": ["card_1", "card_2"], "unchanged": 0, "suspended": True},
        ),
        Example(
            "Ask all of a deck again",
            {"query": "deck:Languages is:suspended OR cid:card_3", "suspend": False},
            {"cardIds": [], "unchanged": 1, "suspended": False},
        ),
    ],
)
async def suspend_cards(args: SuspendCards, cards: Need[Cards], world: Need[World], context: ToolContext) -> Answer:
    """Pause cards, or unsuspend them.

    Use it to stop asking cards until the user says so; for today, bury-cards. Returns the ids of those that changed.

    They keep their schedule. At most 1,000 at once: all of them change, or none.
    """
    changed = await cards.suspend(owner(context), args.chosen(), world.now(), suspend=args.suspend)
    ids = _ids(changed)
    value = {"cardIds": ids, "unchanged": changed.unchanged, "suspended": args.suspend}
    undo = _undo("suspend-cards", ids, suspend=not args.suspend)
    then = [] if not ids else [undo] if args.suspend else [_STUDY, undo]
    what = "are not asked any more" if args.suspend else "are asked again"
    return Answer.ok(value, hints=_for_change(changed, what, then))


class BuryCards(Choice):
    """Which cards, and whether they are to wait."""

    bury: Annotated[bool, Field(description="false: ask them today after all.")] = True


@tool(
    **SETS,
    permissions=["cards:write"],
    tags=["cards", "decks", "statistics"],
    examples=[
        Example(
            "Not today",
            {"cardIds": ["card_1"]},
            {"cardIds": ["card_1"], "unchanged": 0, "buriedUntil": "<time>"},
        )
    ],
)
async def bury_cards(args: BuryCards, cards: Need[Cards], world: Need[World], context: ToolContext) -> Answer:
    """Hide cards until tomorrow, or unbury them.

    Use it when the user wants to skip a card, for today only. Returns the ids of the cards that changed.

    They keep their schedule. At most 1,000 at once: all of them change, or none.
    """
    changed = await cards.bury(owner(context), args.chosen(), world.now(), bury=args.bury)
    ids = _ids(changed)
    value = {"cardIds": ids, "unchanged": changed.unchanged, "buriedUntil": iso(changed.until)}
    undo = _undo("bury-cards", ids, bury=not args.bury)
    then = [_STUDY, undo] if ids else []
    return Answer.ok(value, hints=_for_change(changed, "wait until tomorrow" if args.bury else "are back", then))


class SetDueDate(Choice):
    """Which cards, and when."""

    day: Annotated[date | None, Field(alias="date", description="Or give days.")] = None
    days: Annotated[int | None, Field(ge=0, le=FURTHEST, description="From today; 0 is today.")] = None


@tool(
    **SETS,
    permissions=["cards:write"],
    consent="SET_DUE_DATE",
    question="Give the chosen cards a new due date?",
    tags=["cards", "decks", "statistics"],
    examples=[
        Example(
            "An exam in a week",
            {"query": "deck:Languages", "days": 7, "explicit_action": "SET_DUE_DATE"},
            {"cardIds": ["card_1", "card_2", "card_3"], "due": "<time>", "expectedRecall": "<number>"},
        )
    ],
)
async def set_due_date(args: SetDueDate, cards: Need[Cards], world: Need[World], context: ToolContext) -> Answer:
    """Choose the day on which cards are due.

    Use it to see cards again on a certain date, or put them off. Returns the new due date and the recall to expect.

    They keep their memory state; new and learning cards become review cards. At most 1,000 at once.
    """
    when = args.days if args.days is not None else args.day
    if when is None or (args.days is not None and args.day is not None):
        raise InvalidArguments("Give date or days, one of the two.", fields=("date", "days"))
    changed = await cards.set_due(owner(context), args.chosen(), when, world.now())
    value = {"cardIds": _ids(changed), "due": iso(changed.until), "expectedRecall": changed.recall}
    return Answer.ok(value, hints=_for_new_date(changed, world.now()))


def _for_new_date(changed: ChangedCards, now: datetime) -> AgentHints:
    made = _for_change(changed, "have a new due date", [_STUDY] if changed.until and changed.until <= now else [])
    if changed.suspended:
        made = made.warned(_still_suspended(changed))
    if changed.recall is None or changed.desired is None or changed.recall >= changed.desired:
        return made
    missing = changed.desired - changed.recall
    risk = RiskFactor(
        type="accuracy",
        severity="high" if changed.recall < changed.desired / 2 else "medium",
        description=f"By then {changed.recall:.0%} are remembered, and {changed.desired:.0%} are wanted.",
        probability=round(1.0 - changed.recall, 4),
        impact=round(missing, 4),
        mitigation="Choose an earlier day.",
    )
    return made.model_copy(update={"risk_factors": (risk,)})


def _still_suspended(changed: ChangedCards) -> HintWarning:
    return HintWarning(
        type="conflict",
        severity="medium",
        message=f"{changed.suspended} of the cards are suspended, so they are not asked all the same.",
        suggested_fix="Call suspend-cards with suspend false.",
        auto_fixable=True,
    )


class ResetCards(Choice):
    """Which cards."""


@tool(
    **SETS,
    permissions=["cards:write"],
    consent="RESET_CARDS",
    question="Make the chosen cards new, and forget how well they are known?",
    tags=["cards", "decks", "statistics"],
    examples=[
        Example(
            "Begin anew with one card",
            {"cardIds": ["card_3"], "explicit_action": "RESET_CARDS"},
            {"cardIds": ["card_3"], "unchanged": 0},
        )
    ],
)
async def reset_cards(args: ResetCards, cards: Need[Cards], world: Need[World], context: ToolContext) -> Answer:
    """Make cards new again.

    Use it when the user wants to start over with cards from scratch. Returns the ids of the cards that changed.

    Their memory state and counts are gone, and they come after all new cards. The log of reviews stays. At most 1,000
    at once.
    """
    changed = await cards.reset(owner(context), args.chosen(), world.now())
    made = _for_change(changed, "are new again", [_STUDY] if changed.ids else [])
    value = {"cardIds": _ids(changed), "unchanged": changed.unchanged}
    return Answer.ok(value, hints=made.warned(_still_suspended(changed)) if changed.suspended else made)
