import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mcp_core import hints
from mcp_core.hints import (
    AgentHints,
    Alternative,
    Dependency,
    EstimatedImpact,
    Evidence,
    HintMetadata,
    HintWarning,
    NeededArgument,
    PreferenceAlignment,
    RelatedResource,
    RiskFactor,
    SuggestedAction,
)

REQUIRED = {
    "suggestedNextActions",
    "relatedResources",
    "confidence",
    "sourceQuality",
    "validityPeriod",
    "contextNeeded",
    "assumptions",
    "riskFactors",
    "dependencies",
    "estimatedImpact",
    "preferenceAlignment",
}
NEXT = SuggestedAction(action="get_note", data={"note_id": "note_1"})
MORE = SuggestedAction(action="list_notes", data={"offset": 20})

GENERATED = [
    hints.for_list(3, 10, more=MORE, then=[NEXT]),
    hints.for_list(3),
    hints.for_empty(then=[NEXT]),
    hints.for_created("note", "note_1", "A", then=[NEXT]),
    hints.for_updated("note", "note_1", "A"),
    hints.for_deleted("note", "A"),
    hints.for_value(),
    hints.for_not_found(nearest=["note_1"]),
    hints.for_validation_error(["a"], retry=NEXT),
    hints.for_permission(["notes:read"]),
    hints.for_consent("delete_note"),
    hints.for_rate_limit(NEXT, 3.0),
    hints.for_system_error(NEXT),
]

evidence = st.builds(
    Evidence,
    completeness=st.floats(0, 1),
    age_seconds=st.floats(0, 1e12),
    half_life_seconds=st.floats(1e-6, 1e12),
    samples=st.none() | st.integers(0, 10**9),
    samples_for_half=st.integers(1, 10**6),
    source=st.sampled_from(["high", "medium", "unknown", "low"]),
)


# --- confidence ------------------------------------------------------------------------------------


@pytest.mark.requirement("HIN-2")
@given(evidence)
def test_confidence_is_within_zero_and_one(given_evidence: Evidence):
    assert 0.0 <= given_evidence.confidence <= 1.0


@pytest.mark.requirement("HIN-2")
@given(evidence, st.data())
def test_better_evidence_never_lowers_the_confidence(less: Evidence, data: st.DataObject):
    samples = less.samples if less.samples is not None else 0
    better = {
        "completeness": st.floats(less.completeness, 1),
        "age_seconds": st.floats(0, less.age_seconds),
        "half_life_seconds": st.floats(less.half_life_seconds, 1e13),
        "samples": st.integers(samples, 10**10) if less.samples is not None else st.none(),
        "samples_for_half": st.integers(1, less.samples_for_half),
        "source": st.sampled_from([s for s, w in hints.SOURCE_WEIGHT.items() if w >= hints.SOURCE_WEIGHT[less.source]]),
    }
    piece = data.draw(st.sampled_from(sorted(better)))
    more = less.model_copy(update={piece: data.draw(better[piece])})
    assert more.confidence >= less.confidence


@pytest.mark.requirement("HIN-2")
@pytest.mark.parametrize(
    ("given_evidence", "confidence", "words"),
    [
        (Evidence(), 1.0, "Confidence 1.00: 100% complete, high quality source."),
        (Evidence(completeness=0.25), 0.25, "Confidence 0.25: 25% complete, high quality source."),
        (Evidence(source="medium"), 0.8, "Confidence 0.80: 100% complete, medium quality source."),
        (Evidence(source="unknown"), 0.6, "Confidence 0.60: 100% complete, unknown quality source."),
        (Evidence(source="low"), 0.5, "Confidence 0.50: 100% complete, low quality source."),
        (
            Evidence(age_seconds=60, half_life_seconds=60),
            0.5,
            "Confidence 0.50: 100% complete, high quality source, 1 minute old (half-life 1 minute).",
        ),
        (
            Evidence(samples=15, samples_for_half=5),
            0.75,
            "Confidence 0.75: 100% complete, high quality source, 15 samples (5 give half confidence).",
        ),
        (
            Evidence(samples=0),
            0.0,
            "Confidence 0.00: 100% complete, high quality source, 0 samples (5 give half confidence).",
        ),
        (
            Evidence(completeness=0.5, age_seconds=60, half_life_seconds=60, samples=5, source="medium"),
            0.1,
            (
                "Confidence 0.10: 50% complete, medium quality source, 1 minute old (half-life 1 minute), "
                "5 samples (5 give half confidence)."
            ),
        ),
    ],
)
def test_confidence_follows_the_documented_formula_and_is_explained(
    given_evidence: Evidence, confidence: float, words: str
):
    assert (given_evidence.confidence, given_evidence.explain()) == (confidence, words)
    shown = hints.for_value(evidence=given_evidence, why="Because.").to_json()
    assert (shown["confidence"], shown["reasoning"]) == (confidence, f"Because. {words}")
    assert shown["sourceQuality"] == given_evidence.source


@pytest.mark.requirement("HIN-2")
@pytest.mark.parametrize("name", ["confidence", "reasoning", "sourceQuality", "source_quality"])
def test_nobody_writes_what_follows_from_the_evidence(name: str):
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        AgentHints(**{"evidence": Evidence(), name: 0.9})


def test_hints_are_not_changed_once_they_are_made():
    made = hints.for_value()
    with pytest.raises(ValidationError, match="Instance is frozen"):
        made.validity_period = "long"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.requirement("HIN-2")
def test_hints_cannot_be_made_without_evidence():
    with pytest.raises(ValidationError, match="evidence\n  Field required"):
        AgentHints()  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    "wrong",
    [
        {"completeness": 1.1},
        {"completeness": -0.1},
        {"completeness": math.nan},
        {"age_seconds": -1},
        {"age_seconds": math.nan},
        {"age_seconds": math.inf},
        {"half_life_seconds": 0},
        {"half_life_seconds": math.inf},
        {"samples": -1},
        {"samples_for_half": 0},
        {"source": "best"},
    ],
)
def test_evidence_out_of_range_is_refused(wrong: dict[str, object]):
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        Evidence(**wrong)


# --- shape -----------------------------------------------------------------------------------------


@pytest.mark.requirement("HIN-1", "HIN-5")
@pytest.mark.parametrize("made", GENERATED, ids=lambda made: made.why)
def test_every_generator_gives_all_eleven_fields_in_their_ranges(made: AgentHints):
    shown = json.loads(made.to_json_str())
    assert shown == made.to_json()
    assert set(shown) >= REQUIRED
    assert set(shown) - REQUIRED <= {"reasoning", "warnings", "alternatives", "constraints", "metadata"}
    assert 0.0 <= shown["confidence"] <= 1.0
    assert shown["sourceQuality"] in {"high", "medium", "low", "unknown"}
    assert shown["validityPeriod"] in {"immediate", "short", "medium", "long", "indefinite"}
    lists = REQUIRED - {"confidence", "sourceQuality", "validityPeriod", "estimatedImpact"}
    assert all(isinstance(shown[name], list) for name in lists)
    assert set(shown["estimatedImpact"]) == {"benefit", "effort", "roi"}


@pytest.mark.requirement("HIN-1", "HIN-4")
def test_rich_hints_have_the_documented_names_on_the_wire():
    made = AgentHints(
        evidence=Evidence(completeness=0.95),
        suggested_next_actions=(
            SuggestedAction(
                action="review-next-card",
                priority="high",
                data={"cursor": None},
                description="Go on.",
                estimated_time=1500,
                estimated_cost=0.1,
                category="learning",
                prerequisites=("adjust-difficulty",),
                expected_outcome="Momentum",
                reversible=True,
                confidence=0.92,
            ),
            SuggestedAction(action="adjust-difficulty"),
        ),
        related_resources=(
            RelatedResource(
                type="deck",
                id="deck_456",
                label="Math",
                relevance=1.0,
                metadata=hints.ResourceMetadata(
                    category="c", last_accessed="2026-01-01", access_count=3, quality="high", freshness="current"
                ),
            ),
        ),
        validity_period="medium",
        context_needed=("the recent trend",),
        assumptions=("The user was attentive",),
        risk_factors=(
            RiskFactor(
                type="user-experience",
                severity="low",
                description="Tired",
                probability=0.2,
                impact=0.1,
                mitigation="Pause",
            ),
        ),
        dependencies=(
            Dependency(
                action="review-next-card", depends_on=("adjust-difficulty",), type="recommended", reason="More data"
            ),
        ),
        estimated_impact=EstimatedImpact(benefit=0.85, effort=0.2, affected_metrics=("retention",)),
        preference_alignment=(
            PreferenceAlignment(
                action="review-next-card",
                preference="continuous",
                alignment="strong",
                score=0.9,
                explanation="Likes it",
            ),
        ),
        why="FSRS says so.",
        warnings=(
            HintWarning(
                type="performance",
                severity="low",
                message="Slow",
                related_ids=("card_1",),
                suggested_fix="Rest",
                auto_fixable=False,
            ),
        ),
        alternatives=(
            Alternative(
                approach="Stop", confidence=0.3, reasoning="Late", pros=("rest",), cons=("pace",), estimated_impact=0.1
            ),
        ),
        constraints=("30 minutes",),
        metadata=HintMetadata(
            generated_at="2026-01-01T00:00:00Z", generated_by="noema", model_version="1", processing_time=2.5
        ),
    )
    assert json.loads(made.to_json_str()) == {
        "suggestedNextActions": [
            {
                "action": "review-next-card",
                "priority": "high",
                "data": {"cursor": None},
                "description": "Go on.",
                "estimatedTime": 1500.0,
                "estimatedCost": 0.1,
                "category": "learning",
                "prerequisites": ["adjust-difficulty"],
                "expectedOutcome": "Momentum",
                "reversible": True,
                "confidence": 0.92,
            },
            {"action": "adjust-difficulty", "priority": "medium"},
        ],
        "relatedResources": [
            {
                "type": "deck",
                "id": "deck_456",
                "label": "Math",
                "relevance": 1.0,
                "metadata": {
                    "category": "c",
                    "lastAccessed": "2026-01-01",
                    "accessCount": 3,
                    "quality": "high",
                    "freshness": "current",
                },
            }
        ],
        "confidence": 0.95,
        "sourceQuality": "high",
        "validityPeriod": "medium",
        "contextNeeded": ["the recent trend"],
        "assumptions": ["The user was attentive"],
        "riskFactors": [
            {
                "type": "user-experience",
                "severity": "low",
                "description": "Tired",
                "probability": 0.2,
                "impact": 0.1,
                "mitigation": "Pause",
            }
        ],
        "dependencies": [
            {
                "action": "review-next-card",
                "dependsOn": ["adjust-difficulty"],
                "type": "recommended",
                "reason": "More data",
            }
        ],
        "estimatedImpact": {"benefit": 0.85, "effort": 0.2, "roi": 4.25, "affectedMetrics": ["retention"]},
        "preferenceAlignment": [
            {
                "action": "review-next-card",
                "preference": "continuous",
                "alignment": "strong",
                "score": 0.9,
                "explanation": "Likes it",
            }
        ],
        "reasoning": "FSRS says so. Confidence 0.95: 95% complete, high quality source.",
        "warnings": [
            {
                "type": "performance",
                "severity": "low",
                "message": "Slow",
                "relatedIds": ["card_1"],
                "suggestedFix": "Rest",
                "autoFixable": False,
            }
        ],
        "alternatives": [
            {
                "approach": "Stop",
                "confidence": 0.3,
                "reasoning": "Late",
                "pros": ["rest"],
                "cons": ["pace"],
                "estimatedImpact": 0.1,
            }
        ],
        "constraints": ["30 minutes"],
        "metadata": {
            "generatedAt": "2026-01-01T00:00:00Z",
            "generatedBy": "noema",
            "modelVersion": "1",
            "processingTime": 2.5,
        },
    }


@pytest.mark.requirement("HIN-4")
@pytest.mark.parametrize(
    ("part", "fields"),
    [
        (SuggestedAction, {"action": "a", "priority": "urgent"}),
        (SuggestedAction, {"action": "a", "category": "fun"}),
        (SuggestedAction, {"action": "a", "confidence": 1.5}),
        (SuggestedAction, {"action": "a", "estimatedTime": -1}),
        (SuggestedAction, {"action": "a", "when": "now"}),
        (RelatedResource, {"type": "t", "id": "i", "label": "l", "relevance": 2}),
        (RelatedResource, {"type": "t", "id": "i", "relevance": 1}),
        (RiskFactor, {"type": "risk", "severity": "low", "description": "d", "probability": 0, "impact": 0}),
        (RiskFactor, {"type": "cost", "severity": "low", "description": "d", "probability": 1.1, "impact": 0}),
        (Dependency, {"action": "a", "dependsOn": ["b"], "type": "maybe"}),
        (EstimatedImpact, {"benefit": 1.1, "effort": 0}),
        (EstimatedImpact, {"benefit": 1, "effort": 0.5, "roi": 99}),
        (PreferenceAlignment, {"action": "a", "preference": "p", "alignment": "strong", "score": -1.1}),
        (PreferenceAlignment, {"action": "a", "preference": "p", "alignment": "so-so", "score": 0}),
        (HintWarning, {"type": "other", "severity": "low", "message": "m"}),
        (HintWarning, {"type": "conflict", "severity": "fatal", "message": "m"}),
        (Alternative, {"approach": "a", "confidence": 0.1}),
        (Alternative, {"approach": "a", "confidence": -0.1, "reasoning": "r"}),
        (HintMetadata, {"generatedAt": "2026-01-01T00:00:00Z"}),
    ],
)
def test_a_part_that_breaks_the_documented_shape_is_refused(part: type, fields: dict[str, object]):
    with pytest.raises(ValidationError):
        part(**fields)


# --- agreement -------------------------------------------------------------------------------------


@pytest.mark.requirement("HIN-3")
@given(benefit=st.floats(0, 1), effort=st.floats(0, 1))
def test_roi_is_benefit_over_effort_and_always_a_number(benefit: float, effort: float):
    roi = EstimatedImpact(benefit=benefit, effort=effort).roi
    assert math.isfinite(roi)
    assert roi == pytest.approx(benefit / max(effort, hints.MINIMUM_EFFORT), abs=1e-4)


@pytest.mark.requirement("HIN-3")
@pytest.mark.parametrize(
    "edge", [Dependency(action="b", depends_on=("get_note",)), Dependency(action="get_note", depends_on=("b",))]
)
def test_a_dependency_names_only_suggested_actions(edge: Dependency):
    with pytest.raises(ValidationError, match="dependency on 'b', which is not among the suggested actions"):
        AgentHints(evidence=Evidence(), suggested_next_actions=(NEXT,), dependencies=(edge,))


@pytest.mark.requirement("HIN-3")
def test_actions_are_known_and_can_take_the_names_that_agents_call():
    made = AgentHints(
        evidence=Evidence(),
        suggested_next_actions=(NEXT, SuggestedAction(action="list_notes", prerequisites=("get_note",))),
        dependencies=(Dependency(action="list_notes", depends_on=("get_note",)),),
        preference_alignment=(PreferenceAlignment(action="get_note", preference="p", alignment="weak", score=0.1),),
    )
    assert made.actions() == {"get_note", "list_notes"}
    assert made.with_action_names({"get_note": "my_get_note", "list_notes": "my_list_notes"}) == AgentHints(
        evidence=Evidence(),
        suggested_next_actions=(
            NEXT.model_copy(update={"action": "my_get_note"}),
            SuggestedAction(action="my_list_notes", prerequisites=("my_get_note",)),
        ),
        dependencies=(Dependency(action="my_list_notes", depends_on=("my_get_note",)),),
        preference_alignment=(PreferenceAlignment(action="my_get_note", preference="p", alignment="weak", score=0.1),),
    )
    assert made.with_action_names({"other": "x"}) is made


def test_a_warning_is_added_to_those_there_are():
    first, second = (HintWarning(type="conflict", severity="low", message=text) for text in ("one", "two"))
    bare = hints.for_value()
    assert bare.with_warning(first).with_warning(second).warnings == (first, second)
    assert bare.warnings is None


# --- generators ------------------------------------------------------------------------------------


@pytest.mark.requirement("HIN-5")
def test_a_page_of_a_list_suggests_the_next_page_first():
    made = hints.for_list(2, 8, more=MORE, then=[NEXT], source="medium")
    assert made == AgentHints(
        evidence=Evidence(source="medium"),
        suggested_next_actions=(MORE, NEXT),
        # Six of eight are not shown yet; three more calls would show them.
        estimated_impact=EstimatedImpact(benefit=0.75, effort=0.3),
        why="2 of 8 items are shown.",
    )
    assert made.confidence == 0.8


@pytest.mark.requirement("HIN-5")
@pytest.mark.parametrize("total", [None, 3, 2])
def test_a_complete_list_suggests_no_further_page(total: int | None):
    assert hints.for_list(3, total, more=MORE, then=[NEXT]) == AgentHints(
        evidence=Evidence(),
        suggested_next_actions=(NEXT,),
        estimated_impact=EstimatedImpact(benefit=0.0, effort=0.1),
        why="All 3 items are shown.",
    )


@pytest.mark.requirement("HIN-5")
@pytest.mark.parametrize("total", [None, 0, -4])
def test_an_empty_list_says_that_the_search_was_carried_out(total: int | None):
    made = hints.for_list(0, total, more=MORE, then=[NEXT])
    assert made == hints.for_empty(then=[NEXT])
    assert made.to_json()["reasoning"] == (
        "The search was complete and found nothing. Confidence 1.00: 100% complete, high quality source."
    )


@pytest.mark.requirement("HIN-2", "HIN-5")
def test_an_empty_page_of_a_list_that_has_more_is_not_called_nothing():
    made = hints.for_list(0, 5, more=MORE)
    assert (made.confidence, made.suggested_next_actions, made.why) == (0.0, (MORE,), "0 of 5 items are shown.")


@pytest.mark.requirement("HIN-2", "HIN-5")
@pytest.mark.parametrize("shown", [0, 4])
def test_an_old_list_is_trusted_less_empty_or_not(shown: int):
    assert hints.for_list(shown, age_seconds=86_400).confidence == 0.5


@pytest.mark.requirement("HIN-5")
@pytest.mark.parametrize(
    ("generate", "word"),
    [(hints.for_created, "created"), (hints.for_updated, "updated")],
)
def test_a_change_points_to_the_thing_that_changed(generate, word: str):
    resource = RelatedResource(type="note", id="note_1", label="Errand", relevance=1.0)
    why = f"The note was {word}, and the store has confirmed it."
    assert generate("note", "note_1", "Errand") == AgentHints(
        evidence=Evidence(), related_resources=(resource,), why=why
    )
    doubtful = Evidence(source="low")
    assert generate("note", "note_1", "Errand", then=[NEXT], evidence=doubtful) == AgentHints(
        evidence=doubtful,
        suggested_next_actions=(NEXT,),
        related_resources=(resource,),
        estimated_impact=EstimatedImpact(benefit=0.0, effort=0.1),
        why=why,
    )


def test_a_deleted_thing_is_named_but_not_referred_to():
    loss = RiskFactor(type="accuracy", severity="high", description="3 notes.", probability=1.0, impact=0.5)
    made = hints.for_deleted("list", "Errands", risks=[loss])
    assert (made.related_resources, made.risk_factors) == ((), (loss,))
    assert made.why == "The list 'Errands' was deleted, and the store has confirmed it."


@pytest.mark.requirement("HIN-5")
def test_each_failure_says_what_would_help():
    needed = {
        "not found": hints.for_not_found(then=[NEXT], nearest=["note_2"]).context_needed,
        "validation": hints.for_validation_error(["a", "b"]).context_needed,
        "permission": hints.for_permission(["notes:read"]).context_needed,
        "consent": hints.for_consent("delete_note").context_needed,
    }
    assert needed == {
        "not found": ("the identifier of something that exists",),
        "validation": ("a valid value for a", "a valid value for b"),
        "permission": ("the permission notes:read",),
        "consent": ("the user's consent to exactly this action",),
    }
    assert hints.for_not_found(nearest=["note_2"]).assumptions == ("note_2 may have been meant",)


@pytest.mark.requirement("HIN-2", "HIN-5")
@pytest.mark.parametrize("made", GENERATED[7:], ids=lambda made: made.why)
def test_a_failure_holds_nothing_of_what_was_asked(made: AgentHints):
    assert made.confidence == 0.0


@pytest.mark.requirement("HIN-5")
def test_a_rate_limit_suggests_the_same_call_later():
    made = hints.for_rate_limit(NEXT, 2.5)
    assert made.suggested_next_actions == (NEXT.model_copy(update={"estimated_time": 2500}),)
    assert made.constraints == ("Not before 2 seconds from now.",)


@pytest.mark.requirement("HIN-5")
def test_a_system_error_warns_that_the_outcome_is_not_known():
    made = hints.for_system_error()
    assert (made.suggested_next_actions, made.source_quality) == ((), "unknown")
    assert made.risk_factors == (
        RiskFactor(
            type="accuracy",
            severity="medium",
            description="It is not known whether the action took effect.",
            probability=0.5,
            impact=0.5,
            mitigation="Read the current state before trying again.",
        ),
    )


def test_an_action_names_the_required_arguments_that_its_data_lacks():
    grade = NeededArgument(name="grade", choices=("again", "good"))
    required = {"review": (NeededArgument(name="card"), grade)}
    own = NeededArgument(name="card", description="The card that is shown.")
    made = AgentHints(
        evidence=Evidence(),
        suggested_next_actions=(
            SuggestedAction(action="review", data={"card": 1}),
            SuggestedAction(action="review", data={"card": 1, "grade": "good"}),
            SuggestedAction(action="review", needs=(own,)),
            SuggestedAction(action="list"),
        ),
    )
    needs = [step.needs for step in made.with_needs(required).suggested_next_actions]
    assert needs == [(grade,), None, (own, grade), None]


def test_the_lean_form_has_only_what_an_agent_acts_on():
    assert json.loads(hints.for_value(why="All is well.").to_lean_json_str()) == {
        "confidence": 1.0,
        "sourceQuality": "high",
        "validityPeriod": "short",
    }
    warning = HintWarning(type="performance", severity="low", message="It was slow.")
    step = SuggestedAction(action="get_note", data={"note_id": 1}, description="Shows it.", estimated_time=5)
    made = hints.for_updated("note", "note_1", "Milk", then=[step]).with_warning(warning)
    assert json.loads(made.to_lean_json_str()) == {
        "suggestedNextActions": [
            {"action": "get_note", "priority": "medium", "data": {"note_id": 1}, "description": "Shows it."}
        ],
        "validityPeriod": "short",
        "warnings": [{"type": "performance", "severity": "low", "message": "It was slow."}],
        "confidence": 1.0,
        "sourceQuality": "high",
    }


def test_the_effort_of_steps_follows_from_their_number_and_no_benefit_is_made_up():
    low, high = SuggestedAction(action="list", priority="low"), SuggestedAction(action="get", priority="high")
    asking = SuggestedAction(action="review", needs=(NeededArgument(name="grade"),))
    assert hints.impact_of([]) == hints.NO_IMPACT
    assert hints.impact_of([low]) == EstimatedImpact(benefit=0.0, effort=0.1)
    assert hints.impact_of([low, high, asking]) == EstimatedImpact(benefit=0.0, effort=0.4)
    assert hints.impact_of([low] * 12).effort == 1.0
