"""Agent hints: what an answer is worth, and what to do next.

Nobody writes a confidence. A handler hands over `Evidence`, and the confidence follows:

    confidence = completeness x freshness x sample x source

    completeness   the share of what was asked that the answer holds
    freshness      0.5 ** (age / half-life)
    sample         n / (n + samples for half confidence); 1 where nothing was sampled
    source         high 1.0, medium 0.8, unknown 0.6, low 0.5

`reasoning` explains the result, so that an agent or a person can see where a low figure comes from.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, computed_field, model_validator
from pydantic.alias_generators import to_camel

from mcp_core.text import json_text
from mcp_core.text.plurals import count, duration

SourceQuality = Literal["high", "medium", "low", "unknown"]
ValidityPeriod = Literal["immediate", "short", "medium", "long", "indefinite"]
Level = Literal["critical", "high", "medium", "low"]
Share = Annotated[float, Field(ge=0.0, le=1.0)]

SOURCE_WEIGHT: Mapping[SourceQuality, float] = {"high": 1.0, "medium": 0.8, "unknown": 0.6, "low": 0.5}
MINIMUM_EFFORT = 0.01
"""No action is free: the smallest effort that a return on investment is computed with."""


class _HintModel(BaseModel):
    """A part of the hints: snake_case here, camelCase on the wire, without fields that the charter does not have."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        protected_namespaces=(),
        # All models together take 20 ms to build, which a command without hints need not wait for.
        defer_build=True,
    )


class Evidence(_HintModel):
    """The evidence for an answer."""

    completeness: Share = 1.0
    age_seconds: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    half_life_seconds: float = Field(default=86_400.0, gt=0.0, allow_inf_nan=False)
    samples: int | None = Field(default=None, ge=0)
    samples_for_half: int = Field(default=5, gt=0)
    source: SourceQuality = "high"

    @property
    def confidence(self) -> float:
        """The documented formula."""
        freshness = 0.5 ** (self.age_seconds / self.half_life_seconds) if self.age_seconds else 1.0
        sample = 1.0 if self.samples is None else self.samples / (self.samples + self.samples_for_half)
        return round(self.completeness * freshness * sample * SOURCE_WEIGHT[self.source], 4)

    def explain(self) -> str:
        """The formula with its numbers, as a sentence."""
        parts = [f"{self.completeness:.0%} complete", f"{self.source} quality source"]
        if self.age_seconds:
            parts.append(f"{duration(self.age_seconds)} old (half-life {duration(self.half_life_seconds)})")
        if self.samples is not None:
            parts.append(f"{count(self.samples, 'sample')} ({self.samples_for_half} give half confidence)")
        return f"Confidence {self.confidence:.2f}: {', '.join(parts)}."


class NeededArgument(_HintModel):
    """An argument that a suggested call needs, and that only the agent or the user knows."""

    name: str
    description: str | None = None
    choices: tuple[Any, ...] | None = None


class SuggestedAction(_HintModel):
    """A tool to call next: `data` are its arguments, and `needs` those that the agent adds.

    Required arguments that are missing in `data` are added to `needs` before the answer is sent.
    """

    action: str
    priority: Level = "medium"
    data: dict[str, Any] | None = None
    needs: tuple[NeededArgument, ...] | None = None
    description: str | None = None
    estimated_time: float | None = Field(default=None, ge=0.0)
    estimated_cost: float | None = None
    category: Literal["exploration", "optimization", "correction", "learning"] | None = None
    prerequisites: tuple[str, ...] | None = None
    expected_outcome: str | None = None
    reversible: bool | None = None
    confidence: Share | None = None


class ResourceMetadata(_HintModel):
    """The facts about a related resource."""

    category: str | None = None
    last_accessed: str | None = None
    access_count: int | None = None
    quality: str | None = None
    freshness: str | None = None


class RelatedResource(_HintModel):
    """Something that the answer is about, or that is close to it."""

    type: str
    id: str
    label: str
    relevance: Share
    metadata: ResourceMetadata | None = None


class RiskFactor(_HintModel):
    """A risk of following the suggestions."""

    type: Literal["performance", "accuracy", "cost", "complexity", "user-experience"]
    severity: Level
    description: str
    probability: Share
    impact: Share
    mitigation: str | None = None


class Dependency(_HintModel):
    """Which suggested action must wait for which."""

    action: str
    depends_on: tuple[str, ...]
    type: Literal["required", "recommended", "optional"] = "required"
    reason: str | None = None


class EstimatedImpact(_HintModel):
    """The benefit and the effort of the suggestions; the ratio follows from them."""

    benefit: Share
    effort: Share
    affected_metrics: tuple[str, ...] | None = None

    @computed_field
    @property
    def roi(self) -> float:
        """Benefit over effort."""
        return round(self.benefit / max(self.effort, MINIMUM_EFFORT), 4)


class PreferenceAlignment(_HintModel):
    """How well a suggestion matches a preference of the person."""

    action: str
    preference: str
    alignment: Literal["strong", "moderate", "weak", "neutral", "conflict"]
    score: Annotated[float, Field(ge=-1.0, le=1.0)]
    explanation: str | None = None


class HintWarning(_HintModel):
    """Something to watch out for."""

    type: Literal["validation", "duplicate", "conflict", "deprecation", "performance"]
    severity: Level
    message: str
    related_ids: tuple[str, ...] | None = None
    suggested_fix: str | None = None
    auto_fixable: bool | None = None


class Alternative(_HintModel):
    """Another approach that was considered."""

    approach: str
    confidence: Share
    reasoning: str
    pros: tuple[str, ...] | None = None
    cons: tuple[str, ...] | None = None
    estimated_impact: Share | None = None


class HintMetadata(_HintModel):
    """The origin of the hints."""

    generated_at: str
    generated_by: str
    model_version: str | None = None
    processing_time: float | None = None


NO_IMPACT = EstimatedImpact(benefit=0.0, effort=0.0)
CALLS_OF_FULL_EFFORT = 10


def effort_of(calls: int) -> float:
    """The effort of some calls: ten are full effort."""
    return min(1.0, calls / CALLS_OF_FULL_EFFORT)


def impact_of(steps: Sequence[SuggestedAction]) -> EstimatedImpact:
    """The effort of steps whose benefit nobody has computed; an argument to find out counts as a call."""
    calls = len(steps) + sum(len(step.needs or ()) for step in steps)
    return EstimatedImpact(benefit=0.0, effort=effort_of(calls)) if steps else NO_IMPACT


class AgentHints(_HintModel):
    """The hints of one answer. `confidence`, `sourceQuality` and `reasoning` follow from the evidence."""

    evidence: Evidence = Field(exclude=True)
    suggested_next_actions: tuple[SuggestedAction, ...] = ()
    related_resources: tuple[RelatedResource, ...] = ()
    validity_period: ValidityPeriod = "short"
    context_needed: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    risk_factors: tuple[RiskFactor, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    estimated_impact: EstimatedImpact = NO_IMPACT
    preference_alignment: tuple[PreferenceAlignment, ...] = ()
    why: str = Field(default="", exclude=True)
    warnings: tuple[HintWarning, ...] | None = None
    alternatives: tuple[Alternative, ...] | None = None
    constraints: tuple[str, ...] | None = None
    metadata: HintMetadata | None = None

    @computed_field
    @property
    def confidence(self) -> float:
        """From the evidence, by the documented formula."""
        return self.evidence.confidence

    @computed_field(alias="sourceQuality")
    @property
    def source_quality(self) -> SourceQuality:
        """The quality of the evidence's source."""
        return self.evidence.source

    @computed_field
    @property
    def reasoning(self) -> str:
        """Why these suggestions, and how the confidence came about."""
        return f"{self.why} {self.evidence.explain()}".lstrip()

    @model_validator(mode="after")
    def _actions_agree(self) -> "AgentHints":
        suggested = {step.action for step in self.suggested_next_actions}
        for edge in self.dependencies:
            for name in (edge.action, *edge.depends_on):
                if name not in suggested:
                    raise ValueError(f"dependency on {name!r}, which is not among the suggested actions")
        return self

    def actions(self) -> frozenset[str]:
        """The names of the suggested tools."""
        return frozenset(step.action for step in self.suggested_next_actions)

    def without_actions(self, consenting: Collection[str]) -> "AgentHints":
        """The same hints without these tools, which run only if the user asks for them: that is needed instead."""
        left_out = [
            name for name in dict.fromkeys(one.action for one in self.suggested_next_actions) if name in consenting
        ]
        if not left_out:
            return self
        requests = (f"whether the user asks for {name}" for name in left_out)
        edges = (edge for edge in self.dependencies if not {edge.action, *edge.depends_on} & {*left_out})
        update = {
            "suggested_next_actions": tuple(one for one in self.suggested_next_actions if one.action not in left_out),
            "dependencies": tuple(edges),
            "preference_alignment": tuple(one for one in self.preference_alignment if one.action not in left_out),
            "context_needed": (*self.context_needed, *requests),
        }
        return self.model_copy(update=update)

    def with_needs(self, required: Mapping[str, Sequence[NeededArgument]]) -> "AgentHints":
        """The same hints; each action needs the required arguments of its tool that its data does not have."""

        def complete(step: SuggestedAction) -> SuggestedAction:
            known = {*(step.data or ()), *(one.name for one in step.needs or ())}
            missing = tuple(one for one in required.get(step.action, ()) if one.name not in known)
            return step.model_copy(update={"needs": (*(step.needs or ()), *missing)}) if missing else step

        steps = tuple(map(complete, self.suggested_next_actions))
        return self.model_copy(update={"suggested_next_actions": steps})

    def with_action_names(self, names: Mapping[str, str]) -> "AgentHints":
        """The same hints, with each action under the name that the agent calls it by."""
        if not any(names.get(action, action) != action for action in self.actions()):
            return self

        def rename(name: str) -> str:
            return names.get(name, name)

        def steps(step: SuggestedAction) -> SuggestedAction:
            before = tuple(map(rename, step.prerequisites)) if step.prerequisites else step.prerequisites
            return step.model_copy(update={"action": rename(step.action), "prerequisites": before})

        def edges(edge: Dependency) -> Dependency:
            needs = tuple(map(rename, edge.depends_on))
            return edge.model_copy(update={"action": rename(edge.action), "depends_on": needs})

        update = {
            "suggested_next_actions": tuple(map(steps, self.suggested_next_actions)),
            "dependencies": tuple(map(edges, self.dependencies)),
            "preference_alignment": tuple(
                one.model_copy(update={"action": rename(one.action)}) for one in self.preference_alignment
            ),
        }
        return self.model_copy(update=update)

    def with_warning(self, warning: HintWarning) -> "AgentHints":
        """The same hints with one more warning."""
        return self.model_copy(update={"warnings": (*(self.warnings or ()), warning)})

    def to_json(self) -> dict[str, Any]:
        """Plain data, as it goes over the wire."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def to_json_str(self) -> str:
        """The same as compact JSON text."""
        return self.model_dump_json(by_alias=True, exclude_none=True)

    def to_lean_json_str(self) -> str:
        """Only what an agent acts on, as compact JSON text: no explanations, no estimates, no empty fields."""
        shown = self.model_dump(mode="json", by_alias=True, exclude_none=True, include=_LEAN)
        return json_text.to_text({name: value for name, value in shown.items() if value != []})


_LEAN: Any = {
    "suggested_next_actions": {
        "__all__": {"action", "priority", "data", "needs", "description", "prerequisites"},
    },
    **dict.fromkeys(("confidence", "source_quality", "validity_period", "context_needed", "constraints"), True),
    **dict.fromkeys(("risk_factors", "dependencies", "warnings"), True),
}
"""The fields of the lean form."""


# --- generators: the usual cases, so that a handler writes little ------------------------------------------


def for_list(
    shown: int,
    total: int | None = None,
    *,
    source: SourceQuality = "high",
    age_seconds: float = 0.0,
    then: Sequence[SuggestedAction] = (),
    more: SuggestedAction | None = None,
    resources: Sequence[RelatedResource] = (),
) -> AgentHints:
    """Hints for a list. `more` is suggested when the list does not show everything."""
    known_total = shown if total is None else max(total, shown)
    if known_total == 0:
        return for_empty(then=then, source=source, age_seconds=age_seconds)
    left = known_total - shown
    steps = (*((more,) if left and more else ()), *then)
    return AgentHints(
        # A page of exact data is exact; how much of the whole it is, is said in `why`.
        evidence=Evidence(completeness=1.0 if shown else 0.0, source=source, age_seconds=age_seconds),
        suggested_next_actions=steps,
        related_resources=tuple(resources),
        estimated_impact=_impact_of_rest(shown, known_total) if left else impact_of(then),
        why=f"{shown} of {known_total} items are shown." if left else f"All {shown} items are shown.",
    )


def _impact_of_rest(shown: int, total: int) -> EstimatedImpact:
    """The items that are not shown yet, and the calls that it takes to show them."""
    left = total - shown
    return EstimatedImpact(benefit=round(left / total, 4), effort=effort_of(-(-left // max(shown, 1))))


def for_empty(
    *, then: Sequence[SuggestedAction] = (), source: SourceQuality = "high", age_seconds: float = 0.0
) -> AgentHints:
    """Hints for a search that found nothing."""
    return AgentHints(
        evidence=Evidence(source=source, age_seconds=age_seconds),
        suggested_next_actions=tuple(then),
        assumptions=("The filters are the ones the user meant.",),
        estimated_impact=impact_of(then),
        why="The search was complete and found nothing.",
    )


def _for_change(
    what: str, thing: tuple[str, str, str], then: Sequence[SuggestedAction], evidence: Evidence | None
) -> AgentHints:
    kind, thing_id, label = thing
    return AgentHints(
        evidence=evidence or Evidence(),
        suggested_next_actions=tuple(then),
        related_resources=(RelatedResource(type=kind, id=thing_id, label=label, relevance=1.0),),
        estimated_impact=impact_of(then),
        why=f"The {kind} was {what}, and the store has confirmed it.",
    )


def for_created(
    kind: str, id: str, label: str, *, then: Sequence[SuggestedAction] = (), evidence: Evidence | None = None
) -> AgentHints:
    """Hints after something was created."""
    return _for_change("created", (kind, id, label), then, evidence)


def for_updated(
    kind: str, id: str, label: str, *, then: Sequence[SuggestedAction] = (), evidence: Evidence | None = None
) -> AgentHints:
    """Hints after something was changed."""
    return _for_change("updated", (kind, id, label), then, evidence)


def for_deleted(
    kind: str,
    label: str,
    *,
    then: Sequence[SuggestedAction] = (),
    risks: Sequence[RiskFactor] = (),
    evidence: Evidence | None = None,
) -> AgentHints:
    """Hints after something was deleted, which they name but do not refer to. `risks` are what was lost with it."""
    return AgentHints(
        evidence=evidence or Evidence(),
        suggested_next_actions=tuple(then),
        risk_factors=tuple(risks),
        estimated_impact=impact_of(then),
        why=f"The {kind} {label!r} was deleted, and the store has confirmed it.",
    )


def for_value(*, evidence: Evidence | None = None, then: Sequence[SuggestedAction] = (), why: str = "") -> AgentHints:
    """Hints for a single answer."""
    return AgentHints(
        evidence=evidence or Evidence(),
        suggested_next_actions=tuple(then),
        estimated_impact=impact_of(then),
        why=why,
    )


# A failure is certain, but contains nothing of what was asked for.
_FAILED = Evidence(completeness=0.0)


def for_not_found(*, then: Sequence[SuggestedAction] = (), nearest: Collection[str] = ()) -> AgentHints:
    """Hints when something does not exist; `nearest` are similar names that do."""
    return AgentHints(
        evidence=_FAILED,
        suggested_next_actions=tuple(then),
        validity_period="immediate",
        context_needed=("the identifier of something that exists",),
        assumptions=tuple(f"{name} may have been meant" for name in nearest),
        why="Nothing has that identifier.",
    )


def for_validation_error(fields: Sequence[str], *, retry: SuggestedAction | None = None) -> AgentHints:
    """Hints when arguments are wrong: which to correct before the next call."""
    return AgentHints(
        evidence=_FAILED,
        suggested_next_actions=(retry,) if retry else (),
        validity_period="immediate",
        context_needed=tuple(f"a valid value for {field}" for field in fields),
        warnings=(HintWarning(type="validation", severity="medium", message="Nothing was done.", auto_fixable=True),),
        why="The arguments do not match the schema.",
    )


def for_permission(missing: Sequence[str]) -> AgentHints:
    """Hints when the caller lacks permissions."""
    return AgentHints(
        evidence=_FAILED,
        validity_period="indefinite",
        context_needed=tuple(f"the permission {name}" for name in missing),
        constraints=("Trying again will not help until the permission is granted.",),
        why="The caller lacks a permission.",
    )


def for_consent(tool: str, fields: Sequence[str] = ()) -> AgentHints:
    """Hints when the person has not agreed: ask them, and nothing else. `fields` are wrong as well."""
    return AgentHints(
        evidence=_FAILED,
        validity_period="immediate",
        context_needed=("the user's consent to exactly this action", *(f"a valid value for {one}" for one in fields)),
        constraints=(f"{tool} runs only after the user has asked for exactly this.",),
        warnings=(
            HintWarning(
                type="validation",
                severity="high",
                message="Nothing was done.",
                suggested_fix="Ask the user whether they want exactly this.",
                auto_fixable=False,
            ),
        ),
        why="The user has not agreed to this action.",
    )


def for_rate_limit(retry: SuggestedAction, retry_after: float) -> AgentHints:
    """Hints when too many calls were made: suggest the same call, later."""
    return AgentHints(
        evidence=_FAILED,
        suggested_next_actions=(retry.model_copy(update={"estimated_time": round(retry_after * 1000)}),),
        validity_period="short",
        constraints=(f"Not before {retry_after:.0f} seconds from now.",),
        warnings=(HintWarning(type="performance", severity="medium", message="The rate limit is used up."),),
        why="Too many calls in the current window.",
    )


def for_system_error(retry: SuggestedAction | None = None) -> AgentHints:
    """Hints for an error of the server; give `retry` only where trying again is safe."""
    return AgentHints(
        evidence=_FAILED.model_copy(update={"source": "unknown"}),
        suggested_next_actions=(retry,) if retry else (),
        validity_period="immediate",
        risk_factors=(
            RiskFactor(
                type="accuracy",
                severity="medium",
                description="It is not known whether the action took effect.",
                probability=0.5,
                impact=0.5,
                mitigation="Read the current state before trying again.",
            ),
        ),
        why="The tool failed because of an error in the server.",
    )
