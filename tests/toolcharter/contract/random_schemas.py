"""Random schemas, random changes of them, and values that match them. The random generator is passed in."""

import copy
from random import Random
from typing import Any

from jsonschema import Draft202012Validator

NAMES = ("a", "b", "c")
TEXTS = ("", "a", "ab", "abc", "aaaa", "x1")
TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
OTHERS = ("anyOf", "oneOf", "allOf", "not", "if", "patternProperties", "dependentRequired", "propertyNames", "contains")


def schema(dice: Random, depth: int = 3) -> dict[str, Any]:
    """The input schema of a tool, sometimes with a definition that it refers to."""
    made = _object(dice, depth)
    if dice.random() < 0.3:
        made["$defs"] = {"d": _schema(dice, 2)}
    return made


def _schema(dice: Random, depth: int) -> Any:
    roll = dice.random()
    if depth <= 0 or roll < 0.4:
        return _scalar(dice)
    if roll < 0.55:
        return _object(dice, depth)
    if roll < 0.7:
        return _array(dice, depth)
    if roll < 0.78:
        return {"$ref": dice.choice(["#/$defs/d", "#"])}
    if roll < 0.94:
        word = dice.choice(["anyOf", "anyOf", "oneOf", "allOf"])
        return {word: [_schema(dice, depth - 1) for _ in range(dice.randint(1, 3))], **_beside(dice)}
    return dice.choice([{}, True, False, {"not": _scalar(dice)}, {"if": _scalar(dice), "then": _scalar(dice)}])


def _beside(dice: Random) -> dict[str, Any]:
    return dice.choice([{}, {}, {"description": "words"}, {"type": dice.choice(TYPES)}, {"default": None}])


def _scalar(dice: Random) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if dice.random() < 0.85:
        made["type"] = dice.choice(TYPES[:5]) if dice.random() < 0.8 else sorted(dice.sample(TYPES[:5], 2))
    for key in dice.sample(list(KEYWORDS), dice.randint(0, 3)):
        made[key] = KEYWORDS[key](dice)
    return made


KEYWORDS = {
    "minimum": lambda dice: dice.choice([-1, 0, 1, 2, 0.5]),
    "maximum": lambda dice: dice.choice([1, 2, 3, 5, 2.5]),
    "exclusiveMinimum": lambda dice: dice.choice([-1, 0, 1, 0.5]),
    "exclusiveMaximum": lambda dice: dice.choice([2, 3, 5, 3.5]),
    "multipleOf": lambda dice: dice.choice([1, 2, 3, 4, 0.5]),
    "minLength": lambda dice: dice.randint(0, 2),
    "maxLength": lambda dice: dice.randint(1, 4),
    "pattern": lambda dice: dice.choice(["^a", "b$", "a"]),
    "format": lambda dice: dice.choice(["date", "email"]),
    "enum": lambda dice: dice.sample([0, 1, 2, "a", "ab", None, True, 1.5], dice.randint(1, 4)),
    "const": lambda dice: dice.choice([1, "a", None, True]),
    "description": lambda dice: dice.choice(["one", "two"]),
    "default": lambda dice: dice.choice([1, "a", None]),
}


def _object(dice: Random, depth: int) -> dict[str, Any]:
    names = dice.sample(NAMES, dice.randint(0, 3))
    made: dict[str, Any] = {"type": "object"}
    if names or dice.random() < 0.5:
        made["properties"] = {name: _schema(dice, depth - 1) for name in names}
    if dice.random() < 0.5:
        made["required"] = dice.sample(NAMES, dice.randint(0, 2))
    if dice.random() < 0.4:
        made["additionalProperties"] = dice.choice([True, False, _scalar(dice)])
    if dice.random() < 0.15:
        made[dice.choice(["minProperties", "maxProperties"])] = dice.randint(1, 2)
    if dice.random() < 0.2:
        made |= _rare(dice, depth)
    return made


def _rare(dice: Random, depth: int) -> dict[str, Any]:
    return dice.choice([
        {"patternProperties": {"^a": _scalar(dice)}},
        {"dependentRequired": {"a": ["b"]}},
        {"propertyNames": {"maxLength": 1}},
        {"allOf": [_object(dice, depth - 1)] if depth > 0 else []},
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"unevaluatedProperties": False},
    ])  # fmt: skip


def _array(dice: Random, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "array"}
    if dice.random() < 0.8:
        made["items"] = _schema(dice, depth - 1)
    if dice.random() < 0.2:
        made["prefixItems"] = [_schema(dice, depth - 1) for _ in range(dice.randint(1, 2))]
    if dice.random() < 0.2:
        made |= dice.choice([{"contains": _scalar(dice)}, {"contains": {}, "minContains": dice.randint(0, 2)}])
    for key in ("minItems", "maxItems"):
        if dice.random() < 0.3:
            made[key] = dice.randint(0, 3)
    if dice.random() < 0.2:
        made["uniqueItems"] = dice.choice([True, False])
    return made


# ---- changes -------------------------------------------------------------------------------------


def changed(given: Any, dice: Random) -> Any:
    """The schema after one to three small changes."""
    made = copy.deepcopy(given)
    for _ in range(dice.randint(1, 3)):
        places = list(_places(made))
        if places:
            _change(dice.choice(places), dice)
    return made


def _places(node: Any) -> list[dict[str, Any]]:
    """Every schema inside a schema that can be changed."""
    if isinstance(node, list):
        return [place for item in node for place in _places(item)]
    if not isinstance(node, dict):
        return []
    found = [node]
    for key, value in node.items():
        if key in ("properties", "patternProperties", "$defs", "definitions") and isinstance(value, dict):
            found += [place for item in value.values() for place in _places(item)]
        elif key not in ("enum", "const", "default", "examples", "required", "dependentRequired"):
            found += _places(value)
    return found


def _change(place: dict[str, Any], dice: Random) -> None:
    roll = dice.random()
    numbers = [key for key, value in place.items() if isinstance(value, int | float) and not isinstance(value, bool)]
    free = [key for key in place if key not in ("$defs", "$ref")]
    if roll < 0.25 and numbers:
        key = dice.choice(numbers)
        if key not in ("const", "default"):
            place[key] = abs(place[key] + dice.choice([-1, 1])) or 1
    elif roll < 0.45 and free:
        place.pop(dice.choice(free))
    elif roll < 0.6:
        key = dice.choice(list(KEYWORDS))
        place[key] = KEYWORDS[key](dice)
    elif roll < 0.75 and isinstance(place.get("properties"), dict):
        place["properties"][dice.choice(NAMES)] = _schema(dice, 1)
    elif roll < 0.85:
        place["required"] = dice.sample(NAMES, dice.randint(0, 2))
    elif roll < 0.93 and isinstance(place.get("anyOf"), list):
        place["anyOf"].append(_scalar(dice))
    else:
        place["type"] = dice.choice(TYPES)


# ---- values --------------------------------------------------------------------------------------


def value(given: Any, dice: Random, root: Any, depth: int = 5) -> Any:
    """A value that often matches the schema, often just at a limit."""
    if not isinstance(given, dict) or depth <= 0:
        return dice.choice([None, True, 0, 1, 2.5, "a", "ab", [], {}])
    if "$ref" in given:
        return value(root if given["$ref"] == "#" else root.get("$defs", {}).get("d"), dice, root, depth - 1)
    if "const" in given:
        return given["const"]
    if given.get("enum") and dice.random() < 0.9:
        return dice.choice(given["enum"])
    for word in ("anyOf", "oneOf", "allOf"):
        if given.get(word) and dice.random() < (0.9 if "properties" not in given else 0.3):
            return value(dice.choice(given[word]), dice, root, depth - 1)
    kinds = given.get("type", dice.choice(TYPES))
    return _typed(kinds if isinstance(kinds, str) else dice.choice(kinds), given, dice, root, depth)


def _typed(kind: str, given: dict[str, Any], dice: Random, root: Any, depth: int) -> Any:
    match kind:
        case "string":
            return dice.choice(TEXTS)
        case "integer" | "number":
            edges = [
                given[key] for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum") if key in given
            ]
            found = dice.choice([*edges, -2, 0, 1, 2, 3, 4, 6]) + dice.choice([0, 0, 0, 1, -1])
            return found + dice.choice([0, 0.5]) if kind == "number" else int(found)
        case "boolean":
            return dice.choice([True, False])
        case "array":
            return _list(given, dice, root, depth)
        case "object":
            return _fields(given, dice, root, depth)
        case _:
            return None


def _list(given: dict[str, Any], dice: Random, root: Any, depth: int) -> list[Any]:
    least = min(given.get("minItems", 0), 3)
    count = dice.randint(least, max(least, min(given.get("maxItems", 3), 3)))
    first = given.get("prefixItems", [])
    return [
        value(first[index] if index < len(first) else given.get("items", {}), dice, root, depth - 1)
        for index in range(count)
    ]


def _fields(given: dict[str, Any], dice: Random, root: Any, depth: int) -> dict[str, Any]:
    named, required = given.get("properties", {}), given.get("required", [])
    further = given.get("additionalProperties", True)
    chosen = [name for name in NAMES if name in required or dice.random() < 0.4]
    return {name: value(named.get(name, further), dice, root, depth - 1) for name in chosen}


# ---- what an agent would send --------------------------------------------------------------------


def closed(given: Any, *, top: bool = True, shared: bool = False) -> Any:
    """The schema with `additionalProperties: false` at every object."""
    if not isinstance(given, dict):
        return given
    voices = sum(key in given for key in OTHERS if key != "allOf") + len(given.get("allOf", ()))
    own = bool(given.get("properties")) or "additionalProperties" in given
    inside = shared or voices + own > 1
    made: dict[str, Any] = {}
    for key, item in given.items():
        if key in ("properties", "$defs"):
            made[key] = {name: closed(inner, top=False) for name, inner in item.items()}
        elif key in ("anyOf", "oneOf", "allOf"):
            made[key] = [closed(inner, top=top, shared=inside) for inner in item]
        elif key == "prefixItems":
            made[key] = [closed(inner, top=False) for inner in item]
        else:
            made[key] = closed(item, top=False) if key in ("items", "additionalProperties") else item
    speaks = "properties" in given or (top and given.get("type") == "object")
    if speaks and not shared and not voices and "additionalProperties" not in given and "$ref" not in given:
        made["additionalProperties"] = False
    return made


class Fit:
    """Whether values match a schema; an invalid schema matches nothing."""

    def __init__(self, given: Any) -> None:
        self._validator = Draft202012Validator(given)

    def __call__(self, candidate: Any) -> bool:
        return self._validator.is_valid(candidate)
