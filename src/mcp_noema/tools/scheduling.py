"""Scheduling: what the coming days bring, and how to have FSRS fit the user."""

from datetime import date, datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from mcp_core import AgentHints, Example, Need, SuggestedAction, ToolContext, tool
from mcp_core.hints import EstimatedImpact, HintWarning, RiskFactor
from mcp_noema.analysis import Optimization, Plans, Quality, Rescheduling, Workload
from mcp_noema.hint_parts import deck_resource, evidence_from
from mcp_noema.model import CardId, DeckId, World
from mcp_noema.repositories import Scheduling
from mcp_noema.tools.vocabulary import READS, SETS, ADeck, Answer, AnyDeck, Arguments, iso, owner

ANALYSES = READS | {"category": "analysis", "response_time": "slow"}
_DAY, _WEEK, _MONTH = 1, 7, 30
_FORTNIGHT, _QUARTER = 14, 98
"""Up to how many days a calendar goes day by day, and week by week."""


# --- the days to come --------------------------------------------------------------------------------------


class PlanWorkload(Arguments):
    """How far to look ahead."""

    deck_id: AnyDeck = None
    days: Annotated[int, Field(ge=1, le=365, description="Days to look ahead.")] = 30
    desired_retention: Annotated[
        float | None, Field(ge=0.7, le=0.99, description="Another retention to compare with.")
    ] = None


def _plan_json(plan: Workload, today: date, *, is_present: bool) -> dict[str, Any]:
    days, busiest = len(plan.reviews), max(range(len(plan.reviews)), key=plan.reviews.__getitem__)
    return {
        "desiredRetention": plan.desired_retention,
        "isPresent": is_present,
        "reviewsPerDay": round(sum(plan.reviews) / days, 1),
        "newPerDay": round(sum(plan.new) / days, 1),
        "minutesPerDay": round(sum(plan.minutes) / days, 1),
        "busiestDay": {
            "date": (today + timedelta(days=busiest)).isoformat(),
            "reviews": round(plan.reviews[busiest], 1),
            "minutes": round(plan.minutes[busiest], 1),
        },
        "learned": round(plan.known),
        "remembered": round(plan.remembered),
        "overdue": round(plan.overdue),
    }


def _calendar_json(plan: Workload, today: date) -> list[dict[str, Any]]:
    """Days, weeks or months, so that it stays readable."""
    days = len(plan.reviews)
    size = _DAY if days <= _FORTNIGHT else _WEEK if days <= _QUARTER else _MONTH
    return [
        {
            "from": (today + timedelta(days=start)).isoformat(),
            "days": min(size, days - start),
            "reviews": round(sum(plan.reviews[start : start + size])),
            "new": round(sum(plan.new[start : start + size])),
            "minutes": round(sum(plan.minutes[start : start + size])),
        }
        for start in range(0, days, size)
    ]


_PLAN = {
    "desiredRetention": 0.9,
    "isPresent": True,
    "reviewsPerDay": "<number>",
    "newPerDay": "<number>",
    "minutesPerDay": "<number>",
    "busiestDay": {"date": "<text>", "reviews": "<number>", "minutes": "<number>"},
    "learned": "<number>",
    "remembered": "<number>",
    "overdue": 0,
}
_SOON = {"from": "<text>", "days": 1, "reviews": "<number>", "new": "<number>", "minutes": "<number>"}


@tool(
    **ANALYSES,
    permissions=["reviews:read"],
    cacheable=True,
    cache_ttl=60,
    tags=["scheduling", "statistics", "cards", "reviews", "decks"],
    examples=[
        Example(
            "The next three days, and what remembering more would cost",
            {"days": 3},
            {
                "plans": [
                    _PLAN,
                    _PLAN | {"desiredRetention": 0.85, "isPresent": False},
                    _PLAN | {"desiredRetention": 0.95, "isPresent": False},
                ],
                "calendar": [_SOON] * 3,
            },
        ),
    ],
)
async def plan_workload(
    args: PlanWorkload, scheduling: Need[Scheduling], world: Need[World], context: ToolContext
) -> Answer:
    """Simulate the daily work of the coming weeks.

    Use it to plan how many reviews and minutes a day it takes, or how long a backlog. Returns a plan for the present
    retention, and for others.

    `remembered` is how many of the `learned` cards are known on the last day. `overdue` ones found no room within
    the limits. The calendar shows the present plan. It is a simulation: the user studies every day, as before.
    """
    found = await scheduling.plan(owner(context), args.deck_id, args.days, args.desired_retention, world.now())
    value = {
        "plans": [_plan_json(plan, found.today, is_present=index == 0) for index, plan in enumerate(found.plans)],
        "calendar": _calendar_json(found.plans[0], found.today),
    }
    return Answer.ok(value, hints=_for_plans(found, args, world.now()))


def _for_plans(found: Plans, args: PlanWorkload, now: datetime) -> AgentHints:
    present, *others = found.plans
    higher = max(others, key=lambda plan: plan.desired_retention)
    return AgentHints(
        evidence=evidence_from(found.basis, now, samples_for_half=100),
        suggested_next_actions=_change(args),
        validity_period="long",
        assumptions=(
            "The user studies every day and answers as in the last half year.",
            "The memory follows FSRS with the parameters of the deck.",
            "Decks inside a deck are planned with its preset.",
        ),
        # What the highest of the retentions shown brings and costs, beside the present one.
        estimated_impact=EstimatedImpact(
            benefit=_growth(present.remembered, higher.remembered),
            effort=_growth(sum(present.minutes), sum(higher.minutes)),
            affected_metrics=("retention", "minutes a day"),
        ),
        risk_factors=_too_much(present, found),
        why=f"At {higher.desired_retention:.0%} instead of {present.desired_retention:.0%}, "
        f"{higher.remembered - present.remembered:+.0f} cards are remembered for "
        f"{sum(higher.minutes) - sum(present.minutes):+.0f} minutes in {len(present.reviews)} days.",
    )


def _growth(before: float, after: float) -> float:
    return round(min(1.0, max(0.0, (after - before) / before)), 4) if before else 0.0


def _change(args: PlanWorkload) -> tuple[SuggestedAction, ...]:
    if args.deck_id is None or args.desired_retention is None:
        return ()
    preset = {"desiredRetention": args.desired_retention}
    return (
        SuggestedAction(
            action="update-deck",
            priority="low",
            data={"deckId": args.deck_id, "preset": preset},
            description="If the user prefers this retention.",
            category="optimization",
            reversible=True,
        ),
    )


def _too_much(present: Workload, found: Plans) -> tuple[RiskFactor, ...]:
    """The average day takes longer than the user likes a session to be."""
    a_day, wanted = sum(present.minutes) / len(present.minutes), found.basis.session_minutes
    if a_day <= wanted:
        return ()
    over = min(1.0, (a_day - wanted) / wanted)
    return (
        RiskFactor(
            type="user-experience",
            severity="medium",
            description=f"The plan takes {a_day:.0f} minutes a day, and sessions of {wanted} are preferred.",
            probability=round(over, 4),
            impact=round(over, 4),
            mitigation="Fewer new cards a day, or a lower desired retention: update-deck.",
        ),
    )


# --- parameters --------------------------------------------------------------------------------------------


class OptimizeParameters(Arguments):
    """Whose reviews to fit."""

    deck_id: AnyDeck = None
    apply: Annotated[bool, Field(description="Also give them to the deck.")] = False


def _quality_json(quality: Quality) -> dict[str, float]:
    return {"logLoss": quality.log_loss, "rmse": quality.rmse}


@tool(
    **SETS | {"response_time": "slow"},
    permissions=["reviews:read", "presets:write"],
    tags=["scheduling", "decks", "statistics", "cards"],
    examples=[
        Example(
            "What fitting would gain",
            {},
            {
                "decks": [{"deckId": "deck_1", "name": "Languages"}],
                "reviews": 101,
                "cards": 26,
                "before": {"logLoss": "<number>", "rmse": "<number>"},
                "after": {"logLoss": "<number>", "rmse": "<number>"},
                "better": True,
                "applied": False,
                "parameters": ["<number>"] * 21,
                "presentParameters": None,
            },
        )
    ],
)
async def optimize_parameters(
    args: OptimizeParameters, scheduling: Need[Scheduling], world: Need[World], context: ToolContext
) -> Answer:
    """Fit the algorithm, FSRS, to how the user remembers.

    Use it to tune the scheduler, once a month, to their own reviews. Returns how well old and new parameters predict
    them.

    Nothing changes unless `apply` is true and the new ones are better. Lower is better: `rmse` is how far predicted
    retention is off, 0.05 being five percentage points.
    """
    found = await scheduling.optimize(owner(context), args.deck_id, world.now(), apply=args.apply)
    value = {
        "decks": [{"deckId": DeckId.of(deck.id), "name": deck.name} for deck in found.decks],
        "reviews": found.fit.reviews,
        "cards": found.fit.cards,
        "before": _quality_json(found.fit.before),
        "after": _quality_json(found.fit.after),
        "better": found.fit.is_better,
        "applied": found.applied,
        "parameters": list(found.fit.parameters),
        "presentParameters": list(found.present) if found.present else None,
    }
    return Answer.ok(value, message=_fit_in_words(found), hints=_for_fit(found, args, world.now()))


def _fit_in_words(found: Optimization) -> str:
    if found.applied:
        return "The decks have the new parameters. Cards keep their due dates until they are answered."
    return "The new parameters are better." if found.fit.is_better else "The present parameters fit better: keep them."


def _for_fit(found: Optimization, args: OptimizeParameters, now: datetime) -> AgentHints:
    fit = found.fit
    gain = max(0.0, 1.0 - fit.after.rmse / fit.before.rmse) if fit.before.rmse and fit.is_better else 0.0
    return AgentHints(
        evidence=evidence_from(found.basis, now, samples_for_half=400),
        suggested_next_actions=_after_fit(found, args),
        related_resources=tuple(deck_resource(deck) for deck in found.decks[:5]),
        validity_period="long",
        assumptions=("The reviews were graded honestly: hard means remembered.",),
        # The share of the error in predicted retention that goes away.
        estimated_impact=EstimatedImpact(benefit=round(gain, 4), effort=0.05, affected_metrics=("retention",)),
        why=f"Predicted retention was {fit.before.rmse:.1%} off, and would be {fit.after.rmse:.1%}.",
    )


def _after_fit(found: Optimization, args: OptimizeParameters) -> tuple[SuggestedAction, ...]:
    if not found.fit.is_better:
        return ()
    if not found.applied:
        data = {"apply": True} | ({"deckId": args.deck_id} if args.deck_id else {})
        return (
            SuggestedAction(
                action="optimize-parameters",
                priority="high",
                data=data,
                description="Use the new parameters from now on, if the user agrees.",
                category="optimization",
                reversible=False,
            ),
        )
    return tuple(
        SuggestedAction(
            action="preview-reschedule",
            priority="medium",
            data={"deckId": DeckId.of(deck.id)},
            description="See which cards would be due at another time with the new parameters.",
            category="optimization",
        )
        for deck in found.decks[:1]
    )


# --- due dates ---------------------------------------------------------------------------------------------


class RescheduleCards(Arguments):
    """Which deck."""

    deck_id: ADeck


_RESCHEDULED: dict[str, Any] = {
    "deckId": "deck_2",
    "name": "Languages::French",
    "cards": 1,
    "changed": 0,
    "unknown": 0,
    "dueToday": {"before": 1, "after": 1},
    "mostMoved": [],
}


def _rescheduling_json(found: Rescheduling) -> dict[str, Any]:
    return {
        "deckId": DeckId.of(found.deck.id),
        "name": found.deck.name,
        "cards": found.cards,
        "changed": found.changed,
        "unknown": found.unknown,
        "dueToday": {"before": found.due_before, "after": found.due_after},
        "mostMoved": [
            {"cardId": CardId.of(moved.card_id), "before": iso(moved.before), "after": iso(moved.after)}
            for moved in found.most_moved
        ],
    }


@tool(
    **ANALYSES,
    permissions=["cards:read", "reviews:read"],
    cacheable=False,
    tags=["scheduling", "cards"],
    examples=[Example("What rescheduling would change", {"deckId": "deck_2"}, _RESCHEDULED)],
)
async def preview_reschedule(
    args: RescheduleCards, scheduling: Need[Scheduling], world: Need[World], context: ToolContext
) -> Answer:
    """Show what reschedule-cards would change.

    Use it before rescheduling: nothing is changed yet. Returns how many cards would move, and how many would be due
    today.
    """
    found = await _reschedule(scheduling, args, world, context, apply=False)
    return Answer.ok(_rescheduling_json(found), hints=_for_rescheduling(found, world.now(), done=False))


@tool(
    **SETS | {"response_time": "slow"},
    permissions=["cards:write"],
    consent="RESCHEDULE_CARDS",
    confirm="if_possible",
    question="Give the cards of {deckId} new due dates?",
    tags=["scheduling", "cards", "decks", "reviews", "statistics"],
    examples=[
        Example(
            "Follow the preset from now on", {"deckId": "deck_2", "explicit_action": "RESCHEDULE_CARDS"}, _RESCHEDULED
        )
    ],
)
async def reschedule_cards(
    args: RescheduleCards, scheduling: Need[Scheduling], world: Need[World], context: ToolContext
) -> Answer:
    """Move all due dates of a deck to where its settings put them.

    Use it when the user wants to reschedule, or a new retention or new parameters to hold at once. Returns how many
    cards moved.

    It is as if the deck had always had its preset; dates set by hand go. Cards whose log does not say how they were
    learned (`unknown`) stay. preview-reschedule shows it first.
    """
    found = await _reschedule(scheduling, args, world, context, apply=True)
    words = f"{found.changed} of {found.cards} cards have a new due date."
    return Answer.ok(_rescheduling_json(found), message=words, hints=_for_rescheduling(found, world.now(), done=True))


async def _reschedule(
    scheduling: Scheduling, args: RescheduleCards, world: World, context: ToolContext, *, apply: bool
) -> Rescheduling:
    fuzz = world.dice is not None
    return await scheduling.reschedule(owner(context), args.deck_id, world.now(), fuzz=fuzz, apply=apply)


def _for_rescheduling(found: Rescheduling, now: datetime, *, done: bool) -> AgentHints:
    more = found.due_after - found.due_before
    data = {"deckId": DeckId.of(found.deck.id)}
    study = SuggestedAction(
        action="review-next-card",
        priority="medium",
        data=data,
        description=f"{found.due_after} cards are due today.",
        category="learning",
    )
    ask = SuggestedAction(
        action="reschedule-cards",
        priority="low",
        data=data,
        description="Ask the user first: it needs their consent.",
        category="optimization",
        reversible=False,
    )
    return AgentHints(
        evidence=evidence_from(found.basis, now),
        suggested_next_actions=(study,) if done else (ask,) if found.changed else (),
        related_resources=(deck_resource(found.deck),),
        validity_period="medium",
        estimated_impact=EstimatedImpact(
            benefit=round(found.changed / found.cards, 4) if found.cards else 0.0,
            # Cards that come early are work; as a share of what is due today anyway.
            effort=round(min(1.0, max(0, more) / max(1, found.due_before)), 4),
            affected_metrics=("due dates",),
        ),
        why=f"{found.changed} of {found.cards} cards follow the preset only after this: {more:+d} are due today.",
        warnings=(_pile(found, more),) if more > 0 else None,
    )


def _pile(found: Rescheduling, more: int) -> HintWarning:
    return HintWarning(
        type="performance",
        severity="medium" if more > found.due_before else "low",
        message=f"{more} more cards of {found.deck.name!r} are due today than before.",
        suggested_fix="plan-workload shows how long it takes to catch up.",
        auto_fixable=False,
    )
