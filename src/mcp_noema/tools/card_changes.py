"""Changes to many cards at once: suspend, bury, set the due date, reset."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import Field

from mcp_noema.hints.parts import loss, study_action
from mcp_noema.model import CardId, ClockAndRandom
from mcp_noema.query.parser import MAX_LENGTH, parse
from mcp_noema.query.tree import Everything
from mcp_noema.records import CardSelection, ChangedCards
from mcp_noema.store import Store
from mcp_noema.tools.cards import MAX_CARDS
from mcp_noema.tools.vocabulary import Arguments, JsonResult, iso, owner, rounded, sets
from toolcharter import Confirm, Example, InvalidArguments, ToolContext
from toolcharter.hints import AgentHints, Evidence, HintWarning, RiskFactor, SuggestedAction, impact_of
from toolcharter.plurals import count, verb

# A query may match the whole collection.
changes_cards = sets.preset(response_time="medium", permissions=["cards:write"], tags=["cards", "decks", "statistics"])

MAX_DAYS = 36_500
MAX_SHOWN_IDS = 20
"""How many of the changed cards a result names; their number is always exact."""


class CardSelectionArguments(Arguments):
    """Which cards: by id or by query."""

    card_ids: Annotated[
        list[CardId] | None,
        Field(max_length=MAX_CARDS, description="The cards to change, such as card_1; give either this or query."),
    ] = None
    query: Annotated[
        str | None,
        Field(
            max_length=MAX_LENGTH,
            description="All cards that match, in the language of search-cards; give either this or cardIds.",
        ),
    ] = None

    def selection(self) -> CardSelection:
        """The selection for the repository."""
        if bool(self.card_ids) == (self.query is not None):
            raise InvalidArguments("Give either cardIds or query.", fields=("cardIds", "query"), alternatives=True)
        if self.card_ids:
            return list(dict.fromkeys(self.card_ids))
        query = parse(self.query or "")
        if isinstance(query, Everything):
            raise InvalidArguments(
                "query: an empty query would match all cards. Give one such as deck:Math, or deck:* for all.",
                fields=("query",),
            )
        return query


def _changed_json(changed: ChangedCards) -> dict[str, Any]:
    ids = [CardId.of(number) for number in changed.ids[:MAX_SHOWN_IDS]]
    return {"changed": len(changed.ids), "cardIds": ids, "unchanged": changed.unchanged}


def _change_hints(changed: ChangedCards, change: str, then: Sequence[SuggestedAction]) -> AgentHints:
    rest = f" {changed.unchanged} did not need to change." if changed.unchanged else ""
    return AgentHints(
        evidence=Evidence(),
        suggested_next_actions=tuple(then),
        estimated_impact=impact_of(then),
        why=f"{count(len(changed.ids), 'card')} {change}.{rest}",
    )


_STUDY = study_action(None, "Study the cards that wait now.")


class SuspendCards(CardSelectionArguments):
    """Which cards, and whether to suspend or unsuspend them."""

    suspend: Annotated[bool, Field(description="true stops showing the cards; false brings suspended cards back.")] = (
        True
    )


@changes_cards(
    examples=[
        Example(
            "Two cards that are too hard for now",
            {"cardIds": ["card_1", "card_2"]},
            {"changed": 2, "cardIds": ["card_1", "card_2"], "unchanged": 0, "suspended": True},
        ),
        Example(
            "Ask all of a deck again",
            {"query": "deck:Languages is:suspended OR cid:card_3", "suspend": False},
            {"changed": 0, "cardIds": [], "unchanged": 1, "suspended": False},
        ),
    ],
)
async def suspend_cards(args: SuspendCards, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Pause cards, or unsuspend them.

    Use it to stop asking or showing cards until the user says so, to take them out of rotation; for today only, use
    bury-cards. Returns how many changed, and the first 20 ids.

    They keep their schedule. All of them change, or none.
    """
    changed = await store.write(
        store.cards.suspend, owner(context), args.selection(), clock.now(), suspend=args.suspend
    )
    value = _changed_json(changed) | {"suspended": args.suspend}
    then = [_STUDY] if changed.ids and not args.suspend else []
    change = "are suspended now" if args.suspend else "are no longer suspended"
    return JsonResult.ok(value, hints=_change_hints(changed, change, then))


class BuryCards(CardSelectionArguments):
    """Which cards, and whether to bury or unbury them."""

    bury: Annotated[
        bool, Field(description="true hides the cards until tomorrow; false shows buried cards again today.")
    ] = True


@changes_cards(
    examples=[
        Example(
            "Not today",
            {"cardIds": ["card_1"]},
            {"changed": 1, "cardIds": ["card_1"], "unchanged": 0, "buriedUntil": "<time>"},
        )
    ],
)
async def bury_cards(args: BuryCards, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Hide cards until tomorrow, or unbury them.

    Use it when the user wants to skip a card, for today only. Returns how many changed, and the first 20 ids.

    They keep their schedule. All of them change, or none.
    """
    changed = await store.write(store.cards.bury, owner(context), args.selection(), clock.now(), bury=args.bury)
    value = _changed_json(changed) | {"buriedUntil": iso(changed.until)}
    then = [_STUDY] if changed.ids else []
    change = "are hidden until tomorrow" if args.bury else "are no longer hidden"
    return JsonResult.ok(value, hints=_change_hints(changed, change, then))


class SetDueDate(CardSelectionArguments):
    """Which cards, and when they are due."""

    day: Annotated[
        date | None,
        Field(alias="date", description="The new due date, YYYY-MM-DD, today or later; give either this or days."),
    ] = None
    days: Annotated[
        int | None,
        Field(ge=0, le=MAX_DAYS, description="The due date in days from today, 0 for today; give either this or date."),
    ] = None


@changes_cards(
    confirm=Confirm("SET_DUE_DATE"),
    examples=[
        Example(
            "An exam in a week",
            {"query": "deck:Languages", "days": 7, "explicit_action": "SET_DUE_DATE"},
            {
                "changed": 3,
                "cardIds": ["card_1", "card_2", "card_3"],
                "unchanged": 0,
                "due": "<time>",
                "expectedRecall": "<number>",
            },
        )
    ],
)
async def set_due_date(args: SetDueDate, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Set the day on which cards are due.

    Use it to see cards again on a certain date, or put them off. Returns the new due date and the expected recall.

    They keep their memory state; new and learning cards become review cards.
    """
    day = args.days if args.days is not None else args.day
    if day is None or (args.days is not None and args.day is not None):
        raise InvalidArguments("Give either date or days.", fields=("date", "days"), alternatives=True)
    changed = await store.write(store.cards.set_due, owner(context), args.selection(), day, clock.now())
    value = _changed_json(changed) | {"due": iso(changed.until), "expectedRecall": rounded(changed.recall)}
    return JsonResult.ok(value, hints=_due_date_hints(changed, clock.now()))


def _due_date_hints(changed: ChangedCards, now: datetime) -> AgentHints:
    is_due = changed.until is not None and changed.until <= now
    agent_hints = _with_suspended(_change_hints(changed, "have a new due date", [_STUDY] if is_due else []), changed)
    if changed.ids:
        lost = f"The earlier due dates of {count(len(changed.ids), 'card')}"
        agent_hints = agent_hints.model_copy(update={"risk_factors": (loss(lost, 1.0),)})
    if changed.recall is None or changed.desired is None or changed.recall >= changed.desired:
        return agent_hints
    risk = RiskFactor(
        type="accuracy",
        severity="high" if changed.recall < changed.desired / 2 else "medium",
        description=f"By then {changed.recall:.0%} are remembered; {changed.desired:.0%} is desired.",
        probability=round(1.0 - changed.recall, 4),
        impact=round(changed.desired - changed.recall, 4),
        mitigation="Choose an earlier day.",
    )
    return agent_hints.model_copy(update={"risk_factors": (*agent_hints.risk_factors, risk)})


def _with_suspended(agent_hints: AgentHints, changed: ChangedCards) -> AgentHints:
    """The hints, with a warning if some of the cards are suspended."""
    if not changed.suspended:
        return agent_hints
    warning = HintWarning(
        type="conflict",
        severity="medium",
        message=f"{changed.suspended} of the cards {verb(changed.suspended, 'is', 'are')} suspended and not shown.",
        suggested_fix="Call suspend-cards with suspend false.",
        auto_fixable=True,
    )
    return agent_hints.with_warning(warning)


class ResetCards(CardSelectionArguments):
    """Which cards."""


@changes_cards(
    confirm=Confirm("RESET_CARDS"),
    examples=[
        Example(
            "Start over with one card",
            {"cardIds": ["card_3"], "explicit_action": "RESET_CARDS"},
            {"changed": 1, "cardIds": ["card_3"], "unchanged": 0},
        )
    ],
)
async def reset_cards(args: ResetCards, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Make cards new again.

    Use it to reset or wipe their progress, and relearn them from scratch. Returns how many changed, and the first
    20 ids.

    Their memory state and counts are lost, and they come after all other new cards. The review log stays.
    """
    changed = await store.write(store.cards.reset, owner(context), args.selection(), clock.now())
    agent_hints = _change_hints(changed, "are new again", [_STUDY] if changed.ids else [])
    if changed.ids:
        lost = f"The memory of {count(len(changed.ids), 'card')}, from {count(changed.answers, 'answer')}"
        agent_hints = agent_hints.model_copy(update={"risk_factors": (loss(lost, 1.0),)})
    value = _changed_json(changed)
    return JsonResult.ok(value, hints=_with_suspended(agent_hints, changed))
