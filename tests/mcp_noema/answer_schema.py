"""The JSON Schema of every answer, from the specification of the tools, and a check of an answer against it."""

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
NUMBER = {"type": "number"}
LEVEL = {"enum": ["critical", "high", "medium", "low"]}


def object_schema(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    """An object with these required fields, these optional ones, and no others."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def array_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


NEED = object_schema({"name": TEXT}, description=TEXT, choices={"type": "array", "minItems": 1})
ACTION = object_schema(
    {"action": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)+$"}, "priority": LEVEL},
    data={"type": "object"},
    needs=array_of(NEED),
    description=TEXT,
    estimatedTime={"type": "number", "minimum": 0},
    estimatedCost=NUMBER,
    category={"enum": ["exploration", "optimization", "correction", "learning"]},
    prerequisites=TEXTS,
    expectedOutcome=TEXT,
    reversible={"type": "boolean"},
    confidence=SHARE,
)
RESOURCE = object_schema(
    {"type": TEXT, "id": TEXT, "label": TEXT, "relevance": SHARE},
    metadata=object_schema({}, category=TEXT, lastAccessed=TEXT, accessCount=NUMBER, quality=TEXT, freshness=TEXT),
)
RISK = object_schema(
    {
        "type": {"enum": ["performance", "accuracy", "cost", "complexity", "user-experience"]},
        "severity": LEVEL,
        "description": TEXT,
        "probability": SHARE,
        "impact": SHARE,
    },
    mitigation=TEXT,
)
DEPENDENCY = object_schema(
    {"action": TEXT, "dependsOn": TEXTS, "type": {"enum": ["required", "recommended", "optional"]}}, reason=TEXT
)
ALIGNMENT = object_schema(
    {
        "action": TEXT,
        "preference": TEXT,
        "alignment": {"enum": ["strong", "moderate", "weak", "neutral", "conflict"]},
        "score": {"type": "number", "minimum": -1, "maximum": 1},
    },
    explanation=TEXT,
)
WARNING = object_schema(
    {
        "type": {"enum": ["validation", "duplicate", "conflict", "deprecation", "performance"]},
        "severity": LEVEL,
        "message": TEXT,
    },
    relatedIds=TEXTS,
    suggestedFix=TEXT,
    autoFixable={"type": "boolean"},
)
ALTERNATIVE = object_schema(
    {"approach": TEXT, "confidence": SHARE, "reasoning": TEXT}, pros=TEXTS, cons=TEXTS, estimatedImpact=SHARE
)
HINTS = object_schema(
    {
        "suggestedNextActions": array_of(ACTION),
        "relatedResources": array_of(RESOURCE),
        "confidence": SHARE,
        "sourceQuality": {"enum": ["high", "medium", "low", "unknown"]},
        "validityPeriod": {"enum": ["immediate", "short", "medium", "long", "indefinite"]},
        "contextNeeded": TEXTS,
        "assumptions": TEXTS,
        "riskFactors": array_of(RISK),
        "dependencies": array_of(DEPENDENCY),
        "estimatedImpact": object_schema({"benefit": SHARE, "effort": SHARE, "roi": NUMBER}, affectedMetrics=TEXTS),
        "preferenceAlignment": array_of(ALIGNMENT),
    },
    reasoning=TEXT,
    warnings=array_of(WARNING),
    alternatives=array_of(ALTERNATIVE),
    constraints=TEXTS,
    metadata=object_schema({"generatedAt": TEXT, "generatedBy": TEXT}, modelVersion=TEXT, processingTime=NUMBER),
)
VERSION = {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}
ID = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
METADATA = object_schema(
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
SUCCESS = object_schema({**DATA, **ENVELOPE}, message=TEXT, instruction=TEXT)
ERROR = object_schema(
    {"type": TEXT, "kind": {"enum": ["validation", "business", "system"]}, "message": TEXT}, errorId=TEXT
)
FAILURE = object_schema({"data": {"type": "null"}, "error": ERROR, **ENVELOPE}, message=TEXT, instruction=TEXT)

MINIMUM_EFFORT = 0.01


def violations(answer: Mapping[str, Any], schemas: Mapping[str, dict[str, Any]]) -> list[str]:
    """One sentence for each violation. `schemas` are the input schemas of the tools, by name."""
    schema = FAILURE if "error" in answer else SUCCESS
    found = [*_schema_errors(answer, schema, "the answer")]
    return found or [*_hint_errors(answer["agentHints"], schemas)]


def _schema_errors(value: Any, schema: dict[str, Any], what: str) -> Iterator[str]:
    for error in Draft202012Validator(schema).iter_errors(value):
        yield f"{what}: {error.json_path}: {error.message}"


def _hint_errors(hints: Mapping[str, Any], schemas: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    suggested = [step["action"] for step in hints["suggestedNextActions"]]
    for step in hints["suggestedNextActions"]:
        if step["action"] not in schemas:
            yield f"{step['action']} is not a tool"
        else:
            # Arguments that only the agent or the user knows, such as a grade, are listed with their choices.
            needed = {need["name"]: need for need in step.get("needs", ())}
            schema = schemas[step["action"]] | {"additionalProperties": False}
            schema["required"] = [name for name in schema.get("required", ()) if name not in needed]
            yield from _schema_errors(step.get("data", {}), schema, f"the data for {step['action']}")
            for name, need in needed.items():
                if need.get("choices") != schema["properties"][name].get("enum"):
                    yield f"{step['action']} needs {name}, whose choices are not {need.get('choices')}"
    mentioned = [edge["action"] for edge in hints["dependencies"]]
    mentioned += [name for edge in hints["dependencies"] for name in edge["dependsOn"]]
    mentioned += [fit["action"] for fit in hints["preferenceAlignment"]]
    mentioned += [name for step in hints["suggestedNextActions"] for name in step.get("prerequisites", ())]
    yield from (f"{name} is mentioned, but not suggested" for name in mentioned if name not in suggested)
    impact = hints["estimatedImpact"]
    if impact["roi"] != round(impact["benefit"] / max(impact["effort"], MINIMUM_EFFORT), 4):
        yield f"{impact} is not benefit over effort"
    if f"Confidence {hints['confidence']:.2f}: " not in hints.get("reasoning", ""):
        yield f"the reasoning does not explain the confidence: {hints.get('reasoning')!r}"
