"""What the specification of the tools promises of every answer, as JSON Schema, and how an answer is held to it."""

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
NUMBER = {"type": "number"}
LEVEL = {"enum": ["critical", "high", "medium", "low"]}


def shape(needed: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """An object with these fields, perhaps those, and no others."""
    return {
        "type": "object",
        "properties": {**needed, **more},
        "required": list(needed),
        "additionalProperties": False,
    }


def several(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


ACTION = shape(
    {"action": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)+$"}, "priority": LEVEL},
    data={"type": "object"},
    description=TEXT,
    estimatedTime={"type": "number", "minimum": 0},
    estimatedCost=NUMBER,
    category={"enum": ["exploration", "optimization", "correction", "learning"]},
    prerequisites=TEXTS,
    expectedOutcome=TEXT,
    reversible={"type": "boolean"},
    confidence=SHARE,
)
RESOURCE = shape(
    {"type": TEXT, "id": TEXT, "label": TEXT, "relevance": SHARE},
    metadata=shape({}, category=TEXT, lastAccessed=TEXT, accessCount=NUMBER, quality=TEXT, freshness=TEXT),
)
RISK = shape(
    {
        "type": {"enum": ["performance", "accuracy", "cost", "complexity", "user-experience"]},
        "severity": LEVEL,
        "description": TEXT,
        "probability": SHARE,
        "impact": SHARE,
    },
    mitigation=TEXT,
)
DEPENDENCY = shape(
    {"action": TEXT, "dependsOn": TEXTS, "type": {"enum": ["required", "recommended", "optional"]}}, reason=TEXT
)
ALIGNMENT = shape(
    {
        "action": TEXT,
        "preference": TEXT,
        "alignment": {"enum": ["strong", "moderate", "weak", "neutral", "conflict"]},
        "score": {"type": "number", "minimum": -1, "maximum": 1},
    },
    explanation=TEXT,
)
WARNING = shape(
    {
        "type": {"enum": ["validation", "duplicate", "conflict", "deprecation", "performance"]},
        "severity": LEVEL,
        "message": TEXT,
    },
    relatedIds=TEXTS,
    suggestedFix=TEXT,
    autoFixable={"type": "boolean"},
)
ALTERNATIVE = shape(
    {"approach": TEXT, "confidence": SHARE, "reasoning": TEXT}, pros=TEXTS, cons=TEXTS, estimatedImpact=SHARE
)
HINTS = shape(
    {
        "suggestedNextActions": several(ACTION),
        "relatedResources": several(RESOURCE),
        "confidence": SHARE,
        "sourceQuality": {"enum": ["high", "medium", "low", "unknown"]},
        "validityPeriod": {"enum": ["immediate", "short", "medium", "long", "indefinite"]},
        "contextNeeded": TEXTS,
        "assumptions": TEXTS,
        "riskFactors": several(RISK),
        "dependencies": several(DEPENDENCY),
        "estimatedImpact": shape({"benefit": SHARE, "effort": SHARE, "roi": NUMBER}, affectedMetrics=TEXTS),
        "preferenceAlignment": several(ALIGNMENT),
    },
    reasoning=TEXT,
    warnings=several(WARNING),
    alternatives=several(ALTERNATIVE),
    constraints=TEXTS,
    metadata=shape({"generatedAt": TEXT, "generatedBy": TEXT}, modelVersion=TEXT, processingTime=NUMBER),
)
VERSION = {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}
ID = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
METADATA = shape(
    {
        "toolVersion": VERSION,
        "serviceVersion": VERSION,
        "timestamp": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)$"},
        "executionTime": {"type": "number", "minimum": 0},
        "traceId": ID,
        "correlationId": ID,
        "cached": {"type": "boolean"},
    }
)
DATA = {"data": {"type": ["object", "array", "string", "number", "boolean"]}}
ENVELOPE = {"agentHints": HINTS, "metadata": METADATA}
SUCCESS = shape({**DATA, **ENVELOPE}, message=TEXT, instruction=TEXT)
ERROR = shape({"type": TEXT, "kind": {"enum": ["validation", "business", "system"]}, "message": TEXT}, errorId=TEXT)
FAILURE = shape({"data": {"type": "null"}, "error": ERROR, **ENVELOPE}, message=TEXT, instruction=TEXT)

MINIMUM_EFFORT = 0.01


def broken(answer: Mapping[str, Any], schemas: Mapping[str, dict[str, Any]]) -> list[str]:
    """One sentence for each promise that an answer breaks. `schemas` are what the tools take, by name."""
    promised = FAILURE if "error" in answer else SUCCESS
    found = [*_differences(answer, promised, "the answer")]
    return found or [*_broken_relations(answer["agentHints"], schemas)]


def _differences(value: Any, schema: dict[str, Any], what: str) -> Iterator[str]:
    for error in Draft202012Validator(schema).iter_errors(value):
        yield f"{what}: {error.json_path}: {error.message}"


def _broken_relations(hints: Mapping[str, Any], schemas: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    suggested = [step["action"] for step in hints["suggestedNextActions"]]
    for step in hints["suggestedNextActions"]:
        if step["action"] not in schemas:
            yield f"{step['action']} is no tool"
        else:
            # What only the user knows, such as a grade, is left out.
            taken = schemas[step["action"]] | {"required": [], "additionalProperties": False}
            yield from _differences(step.get("data", {}), taken, f"the data for {step['action']}")
    named = [edge["action"] for edge in hints["dependencies"]]
    named += [name for edge in hints["dependencies"] for name in edge["dependsOn"]]
    named += [fit["action"] for fit in hints["preferenceAlignment"]]
    named += [name for step in hints["suggestedNextActions"] for name in step.get("prerequisites", ())]
    yield from (f"{name} is spoken of, but not suggested" for name in named if name not in suggested)
    impact = hints["estimatedImpact"]
    if impact["roi"] != round(impact["benefit"] / max(impact["effort"], MINIMUM_EFFORT), 4):
        yield f"{impact} is not benefit over effort"
    if f"Confidence {hints['confidence']:.2f}: " not in hints.get("reasoning", ""):
        yield f"the reasoning does not explain the confidence: {hints.get('reasoning')!r}"
