"""Scheduling: simulate the coming days, fit FSRS to the user, recompute due dates."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from mcp_noema.analysis import Optimization, Plans, Quality, Rescheduling, Workload
from mcp_noema.hints.parts import basis_evidence, deck_argument, deck_resource, loss, study_action
from mcp_noema.model import CardId, ClockAndRandom, DeckId
from mcp_noema.store import Store
from mcp_noema.tools.vocabulary import (
    LONG_DEADLINE_S,
    Arguments,
    DeckIdArg,
    JsonResult,
    OptionalDeckId,
    analyses,
    iso,
    owner,
    sets,
)
from toolcharter import Confirm, Example, ToolContext
from toolcharter.hints import (
    AgentHints,
    Alternative,
    Dependency,
    EstimatedImpact,
    HintWarning,
    RiskFactor,
    SuggestedAction,
    effort_of,
)
from toolcharter.plurals import count, verb

_DAY, _WEEK, _MONTH = 1, 7, 30
_FORTNIGHT, _TWO_MONTHS, _QUARTER = 14, 62, 98
"""A calendar shows days up to a fortnight, for an exam up to two months; weeks up to a quarter, then months."""


# --- workload ----------------------------------------------------------------------------------------------


class PlanWorkload(Arguments):
    """Which deck, and how far to look ahead."""

    deck_id: OptionalDeckId = None
    days: Annotated[int, Field(ge=1, le=365, description="How many days to simulate, from today on.")] = 30
    until: Annotated[
        date | None,
        Field(description="The day of an exam, YYYY-MM-DD, instead of days: the plan has each day until then."),
    ] = None
    desired_retention: Annotated[
        float | None,
        Field(ge=0.7, le=0.99, description="A desired retention to compare with the present one, 0.7 to 0.99."),
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


def _calendar_json(plan: Workload, today: date, *, is_exam: bool) -> list[dict[str, Any]]:
    """The plan in days, weeks or months."""
    days = len(plan.reviews)
    size = _DAY if days <= (_TWO_MONTHS if is_exam else _FORTNIGHT) else _WEEK if days <= _QUARTER else _MONTH
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


@analyses(
    task="auto",
    response_time="slow",
    permissions=["reviews:read"],
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
                "rememberedWithoutStudy": 1,
            },
        ),
    ],
)
async def plan_workload(args: PlanWorkload, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Simulate the daily work of the coming weeks.

    Use it to plan how many reviews and minutes a day it takes, how long a backlog takes, or what to study each day
    until an exam. Returns a plan for the present retention, and for others, and a calendar.

    `remembered` is how many of the `learned` cards are known on the last day; `rememberedWithoutStudy` is how many are
    if nothing is studied until then. `overdue` cards did not fit within the
    daily limits. The calendar shows the present plan. The simulation assumes that the user studies every day, as
    before.
    """
    plans = await store.scheduling.plan(
        store.database,
        owner(context),
        args.deck_id,
        clock.now(),
        days=args.days,
        until=args.until,
        other=args.desired_retention,
        report_progress=context.report_progress,
    )
    value = {
        "plans": [_plan_json(plan, plans.today, is_present=index == 0) for index, plan in enumerate(plans.plans)],
        "calendar": _calendar_json(plans.plans[0], plans.today, is_exam=args.until is not None),
        "rememberedWithoutStudy": round(plans.without),
    }
    return JsonResult.ok(value, hints=_plan_hints(plans, args, clock.now()))


def _plan_hints(plans: Plans, args: PlanWorkload, now: datetime) -> AgentHints:
    present, *others = plans.plans
    higher = max(others, key=lambda plan: plan.desired_retention)
    evidence = basis_evidence(plans.basis, now, samples_for_half=100)
    confidence = evidence.confidence
    return AgentHints(
        evidence=evidence,
        suggested_next_actions=_update_deck_actions(args),
        validity_period="long",
        assumptions=(
            "The user studies every day and answers as in the last half year.",
            "Memory follows FSRS with the parameters of the deck.",
            "Subdecks are planned with the preset of the deck.",
        ),
        # The gain and cost of the highest retention shown, compared with the present one.
        estimated_impact=EstimatedImpact(
            benefit=_growth(present.remembered, higher.remembered),
            effort=_growth(sum(present.minutes), sum(higher.minutes)),
            affected_metrics=("retention", "minutes a day"),
        ),
        risk_factors=_overload_risks(present, plans),
        alternatives=tuple(_alternative(plan, present, confidence) for plan in others),
        why=f"At {higher.desired_retention:.0%} instead of {present.desired_retention:.0%}, "
        f"{_difference(higher.remembered - present.remembered, 'card')} remembered for "
        f"{_difference(sum(higher.minutes) - sum(present.minutes), 'minute')} in {count(len(present.reviews), 'day')}.",
    )


def _alternative(plan: Workload, present: Workload, confidence: float) -> Alternative:
    """Another retention, compared with the present one."""
    minutes = (sum(plan.minutes) - sum(present.minutes)) / len(present.minutes)
    cards = plan.remembered - present.remembered
    gain, cost = f"{_difference(cards, 'card')} remembered", f"{_difference(minutes, 'minute', 1)} a day"
    return Alternative(
        approach=f"A desired retention of {plan.desired_retention:.0%}",
        confidence=confidence,
        reasoning=f"{gain} on the last day, for {cost}.",
        pros=(gain,) if cards > 0 else (cost,),
        cons=(cost,) if cards > 0 else (gain,),
        estimated_impact=_growth(present.remembered, plan.remembered),
    )


def _difference(number: float, noun: str, digits: int = 0) -> str:
    """`12 cards more`, `1 minute less`, `as many cards`."""
    size = round(abs(number), digits) if digits else round(abs(number))
    return f"{count(size, noun)} {'more' if number > 0 else 'fewer'}" if size else f"as many {noun}s"


def _growth(before: float, after: float) -> float:
    return round(min(1.0, max(0.0, (after - before) / before)), 4) if before else 0.0


def _update_deck_actions(args: PlanWorkload) -> tuple[SuggestedAction, ...]:
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


def _overload_risks(present: Workload, plans: Plans) -> tuple[RiskFactor, ...]:
    """The average day takes longer than the session length that the user prefers."""
    minutes, preferred = sum(present.minutes) / len(present.minutes), plans.basis.session_minutes
    if minutes <= preferred:
        return ()
    over = min(1.0, (minutes - preferred) / preferred)
    return (
        RiskFactor(
            type="user-experience",
            severity="medium",
            description=f"The plan takes {count(round(minutes), 'minute')} a day; "
            f"the user prefers sessions of {preferred}.",
            probability=round(over, 4),
            impact=round(over, 4),
            mitigation="Fewer new cards a day, or a lower desired retention: update-deck.",
        ),
    )


# --- parameters --------------------------------------------------------------------------------------------


class OptimizeParameters(Arguments):
    """Which reviews to fit, and whether to apply the result."""

    deck_id: OptionalDeckId = None
    apply: Annotated[bool, Field(description="Use the new parameters if they are better; false only compares.")] = False


def _quality_json(quality: Quality) -> dict[str, float]:
    return {"logLoss": quality.log_loss, "rmse": quality.rmse}


@sets(
    task="auto",
    response_time="slow",
    permissions=["reviews:read", "presets:write"],
    tags=["scheduling", "decks", "statistics", "cards"],
    examples=[
        Example(
            "How much better a fit predicts",
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
    args: OptimizeParameters, store: Store, clock: ClockAndRandom, context: ToolContext
) -> JsonResult:
    """Fit the algorithm, FSRS, to how the user really forgets.

    Use it to train or tune its parameters on their own reviews, about once a month. Returns how well the old and
    the new parameters predict them.

    Nothing changes unless `apply` is true and the new ones are better. Lower is better: `rmse` is how far predicted
    retention is off; 0.05 is five percentage points.
    """
    optimization = await store.scheduling.optimize(
        store.database,
        owner(context),
        args.deck_id,
        clock.now(),
        apply=args.apply,
        report_progress=context.report_progress,
    )
    value = {
        "decks": [{"deckId": DeckId.of(deck.id), "name": deck.name} for deck in optimization.decks],
        "reviews": optimization.fit.reviews,
        "cards": optimization.fit.cards,
        "before": _quality_json(optimization.fit.before),
        "after": _quality_json(optimization.fit.after),
        "better": optimization.fit.is_better,
        "applied": optimization.applied,
        "parameters": list(optimization.fit.parameters),
        "presentParameters": list(optimization.present) if optimization.present else None,
    }
    return JsonResult.ok(value, message=_fit_message(optimization), hints=_fit_hints(optimization, args, clock.now()))


def _fit_message(optimization: Optimization) -> str:
    if optimization.applied:
        return "The decks have the new parameters. Cards keep their due dates until they are reviewed."
    return (
        "The new parameters are better."
        if optimization.fit.is_better
        else "The present parameters fit better: keep them."
    )


def _fit_hints(optimization: Optimization, args: OptimizeParameters, now: datetime) -> AgentHints:
    fit = optimization.fit
    steps = _fit_actions(optimization, args)
    gain = max(0.0, 1.0 - fit.after.rmse / fit.before.rmse) if fit.before.rmse and fit.is_better else 0.0
    return AgentHints(
        evidence=basis_evidence(optimization.basis, now, samples_for_half=400),
        suggested_next_actions=steps,
        dependencies=_fit_dependencies(steps),
        related_resources=tuple(deck_resource(deck) for deck in optimization.decks[:5]),
        validity_period="long",
        assumptions=("The reviews were graded honestly: hard means remembered.",),
        # The share of the error in predicted retention that the fit removes.
        estimated_impact=EstimatedImpact(
            benefit=round(gain, 4), effort=effort_of(len(steps)), affected_metrics=("retention",)
        ),
        why=f"Predicted retention is {fit.before.rmse:.1%} off; with the new parameters, {fit.after.rmse:.1%}.",
    )


def _fit_actions(optimization: Optimization, args: OptimizeParameters) -> tuple[SuggestedAction, ...]:
    if not optimization.fit.is_better:
        return ()
    apply = SuggestedAction(
        action="optimize-parameters",
        priority="high",
        data={"apply": True} | deck_argument(args.deck_id),
        description="Use the new parameters from now on, if the user agrees.",
        category="optimization",
        reversible=False,
    )
    preview = tuple(
        SuggestedAction(
            action="preview-reschedule",
            priority="medium",
            data={"deckId": DeckId.of(deck.id)},
            description="Shows which cards would be due at another time with the new parameters.",
            category="optimization",
            prerequisites=None if optimization.applied else ("optimize-parameters",),
        )
        for deck in optimization.decks[:1]
    )
    return preview if optimization.applied else (apply, *preview)


def _fit_dependencies(steps: Sequence[SuggestedAction]) -> tuple[Dependency, ...]:
    if len(steps) < 2:  # noqa: PLR2004 - one step depends on no other
        return ()
    reason = "Due dates are computed with the parameters of the deck."
    return (Dependency(action="preview-reschedule", depends_on=("optimize-parameters",), reason=reason),)


# --- due dates ---------------------------------------------------------------------------------------------


class RescheduleCards(Arguments):
    """Which deck."""

    deck_id: DeckIdArg


_RESCHEDULED: dict[str, Any] = {
    "deckId": "deck_2",
    "name": "Languages::French",
    "cards": 1,
    "changed": 0,
    "unknown": 0,
    "dueToday": {"before": 1, "after": 1},
    "mostMoved": [],
}


def _rescheduling_json(rescheduling: Rescheduling) -> dict[str, Any]:
    return {
        "deckId": DeckId.of(rescheduling.deck.id),
        "name": rescheduling.deck.name,
        "cards": rescheduling.cards,
        "changed": rescheduling.changed,
        "unknown": rescheduling.unknown,
        "dueToday": {"before": rescheduling.due_before, "after": rescheduling.due_after},
        "mostMoved": [
            {"cardId": CardId.of(moved.card_id), "before": iso(moved.before), "after": iso(moved.after)}
            for moved in rescheduling.most_moved
        ],
    }


@analyses(
    response_time=LONG_DEADLINE_S,
    permissions=["cards:read", "reviews:read"],
    tags=["scheduling", "cards"],
    examples=[Example("What rescheduling would change", {"deckId": "deck_2"}, _RESCHEDULED)],
)
async def preview_reschedule(
    args: RescheduleCards, store: Store, clock: ClockAndRandom, context: ToolContext
) -> JsonResult:
    """Show what would happen if due dates were recalculated: a dry run of reschedule-cards.

    Use it before rescheduling; nothing is changed yet. Returns how many cards would move, and how many would be due
    today.
    """
    rescheduling = await _reschedule(store, args, clock, context, apply=False)
    return JsonResult.ok(
        _rescheduling_json(rescheduling), hints=_rescheduling_hints(rescheduling, clock.now(), done=False)
    )


@sets(
    response_time=LONG_DEADLINE_S,
    permissions=["cards:write"],
    confirm=Confirm("RESCHEDULE_CARDS", ask="Recompute the due dates of all cards in {deckId}?"),
    tags=["scheduling", "cards", "decks", "reviews", "statistics"],
    examples=[
        Example(
            "Follow the preset from now on", {"deckId": "deck_2", "explicit_action": "RESCHEDULE_CARDS"}, _RESCHEDULED
        )
    ],
)
async def reschedule_cards(
    args: RescheduleCards, store: Store, clock: ClockAndRandom, context: ToolContext
) -> JsonResult:
    """Reschedule a deck: recompute every due date and interval.

    Use it to apply a new retention, new parameters or weights now. Returns how many cards moved.

    The result is as if the deck had always had its preset; dates set by hand are lost. Cards whose log does not show
    how they were learned (`unknown`) stay. Call preview-reschedule first.
    """
    rescheduling = await _reschedule(store, args, clock, context, apply=True)
    have = verb(rescheduling.changed, "has", "have")
    message = f"{rescheduling.changed} of {count(rescheduling.cards, 'card')} {have} a new due date."
    return JsonResult.ok(
        _rescheduling_json(rescheduling),
        message=message,
        hints=_rescheduling_hints(rescheduling, clock.now(), done=True),
    )


async def _reschedule(
    store: Store, args: RescheduleCards, clock: ClockAndRandom, context: ToolContext, *, apply: bool
) -> Rescheduling:
    return await store.scheduling.reschedule(
        store.database,
        owner(context),
        args.deck_id,
        clock.now(),
        dice=clock.dice,
        apply=apply,
        report_progress=context.report_progress,
    )


def _rescheduling_hints(rescheduling: Rescheduling, now: datetime, *, done: bool) -> AgentHints:
    more = rescheduling.due_after - rescheduling.due_before
    deck_id = DeckId.of(rescheduling.deck.id)
    study = study_action(
        deck_id, f"{count(rescheduling.due_after, 'card')} {verb(rescheduling.due_after, 'is', 'are')} due today."
    )
    reschedule = SuggestedAction(
        action="reschedule-cards",
        priority="low",
        data=deck_argument(deck_id),
        description="If the user asks for it.",
        category="optimization",
        reversible=False,
    )
    return AgentHints(
        evidence=basis_evidence(rescheduling.basis, now),
        suggested_next_actions=(study,) if done else (reschedule,) if rescheduling.changed else (),
        related_resources=(deck_resource(rescheduling.deck),),
        validity_period="medium",
        estimated_impact=EstimatedImpact(
            benefit=round(rescheduling.changed / rescheduling.cards, 4) if rescheduling.cards else 0.0,
            # Cards that become due today are work: as a share of those that are due anyway.
            effort=round(min(1.0, max(0, more) / max(1, rescheduling.due_before)), 4),
            affected_metrics=("due dates",),
        ),
        why=f"{rescheduling.changed} of {count(rescheduling.cards, 'card')} "
        f"{verb(rescheduling.changed, 'gets', 'get')} a new due date: {_difference(more, 'card')} due today.",
        risk_factors=(loss("Due dates that were set by hand", 1.0),) if done and rescheduling.changed else (),
        warnings=(_more_due_warning(rescheduling, more),) if more > 0 else None,
    )


def _more_due_warning(rescheduling: Rescheduling, more: int) -> HintWarning:
    return HintWarning(
        type="performance",
        severity="medium" if more > rescheduling.due_before else "low",
        message=f"{count(more, 'more card')} of {rescheduling.deck.name!r} {verb(more, 'is', 'are')} due today "
        "than before.",
        suggested_fix="plan-workload shows how long it takes to catch up.",
        auto_fixable=False,
    )
