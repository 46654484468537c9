"""Forms that a person fills in: the flat schema of a model, and the check of what comes back.

The protocol knows texts, numbers, booleans and choices; nothing in a client guarantees that its answer is what the form
asked for.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar, cast, get_args

from pydantic import BaseModel, ValidationError

from mcp_core.schema.adapt import adapt, fits
from mcp_core.schema.fields import Schema, has_type, list_at, number_at, object_at, string_at
from mcp_core.schema.references import resolve_ref

M = TypeVar("M", bound=BaseModel)
Json = dict[str, Any]

MAX_FIELDS = 50
MAX_ANSWER_LENGTH = 10_000
"""Of one text."""
MAX_CHOSEN = 1000
_FORMATS = frozenset({"email", "uri", "date", "date-time"})
_KEPT = {
    "string": ("title", "description", "minLength", "maxLength", "format", "default", "enum", "enumNames", "oneOf"),
    "number": ("title", "description", "minimum", "maximum", "default"),
    "boolean": ("title", "description", "default"),
    "array": ("title", "description", "minItems", "maxItems", "default"),
}
"""The members that the protocol has for each type of field."""
_SHAPES = {
    "email": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"),
}


@lru_cache(maxsize=256)
def form_schema(model: type[BaseModel]) -> Json:
    """The form of a model: its fields as the protocol has them. Raises TypeError for a field that it has not."""
    whole = model.model_json_schema(by_alias=True)
    titles = {field.alias or name: _titles(field.annotation) for name, field in model.model_fields.items()}
    fields = {
        name: _field(f"{model.__name__}.{name}", cast(Schema, schema), whole, titles[name])
        for name, schema in object_at(whole, "properties").items()
    }
    return {"type": "object", "properties": fields, "required": list_at(whole, "required")}


def _field(place: str, schema: Schema, whole: Schema, titles: Mapping[str, str]) -> Json:
    """One field, with references followed and without `null`: a person leaves out what they do not know."""
    found: Json = {**resolve_ref(schema, whole), **{key: schema[key] for key in schema if key != "$ref"}}
    branches = [cast(Schema, one) for one in list_at(found, "anyOf") if cast(Json, one).get("type") != "null"]
    if len(branches) == 1:
        found = {**resolve_ref(branches[0], whole), **{key: found[key] for key in found if key != "anyOf"}}
    if found.get("default", ...) is None:
        del found["default"]
    kind = string_at(found, "type") or ("string" if "const" in found else "")
    if kind == "array":
        return _several(place, found, whole, titles)
    number = kind in ("integer", "number")
    if (kind not in ("string", "boolean") and not number) or (number and "enum" in found):
        fix = "a form has texts, numbers, booleans, dates, choices and lists of choices"
        raise TypeError(f"{place}: {fix}; ask for it in another way")
    if "const" in found:
        found["enum"] = [found["const"]]
    written = {key: found[key] for key in _KEPT["number" if number else kind] if key in found}
    if written.get("format", "date") not in _FORMATS:
        del written["format"]
    return {"type": kind, **_choices(place, written, titles, "oneOf")}


def _several(place: str, found: Json, whole: Schema, titles: Mapping[str, str]) -> Json:
    items = resolve_ref(object_at(found, "items"), whole)
    chosen = {key: items[key] for key in ("enum", "anyOf", "oneOf") if key in items}
    if not chosen:
        raise TypeError(f"{place}: a list in a form is a choice of several; use a Literal or an Enum")
    inner = _choices(place, chosen, titles, "anyOf")
    shown = inner if "anyOf" in inner else {"type": "string", **inner}
    return {"type": "array", **{key: found[key] for key in _KEPT["array"] if key in found}, "items": shown}


def _choices(place: str, written: Json, titles: Mapping[str, str], keyword: str) -> Json:
    """The choices, with their titles where they have some."""
    values = list_at(written, "enum")
    if not all(isinstance(value, str) for value in values):
        raise TypeError(f"{place}: the choices of a form are texts")
    if not values or not titles:
        return written
    titled = [{"const": value, "title": titles.get(value, value)} for value in values]
    return {**{key: value for key, value in written.items() if key != "enum"}, keyword: titled}


def _titles(annotation: Any) -> dict[str, str]:
    """The titles of the choices of an enum: its names, where they say more than the values."""
    parts = get_args(annotation)
    for kind in (annotation, *parts, *(inner for part in parts for inner in get_args(part))):
        if isinstance(kind, type) and issubclass(kind, Enum):
            named = {str(member.value): member.name.replace("_", " ").capitalize() for member in kind}
            return {} if all(value.casefold() == name.casefold() for value, name in named.items()) else named
    return {}


def read_form(model: type[M], answer: Mapping[str, Any]) -> M | list[str]:
    """The model that a person has filled in, or what is wrong with their answer."""
    content, problems = read_answer(form_schema(model), answer)
    if problems:
        return problems
    try:
        return model.model_validate(content, by_alias=True, by_name=False)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        return [f"{'.'.join(map(str, one['loc'])) or 'the form'}: {_sentence(one['msg'])}" for one in details]


def read_answer(schema: Schema, answer: Mapping[str, Any]) -> tuple[Json, list[str]]:
    """The fields of a form that a person has filled in, and the problems with them. Other fields are left out."""
    properties = object_at(schema, "properties")
    fields = {name: answer[name] for name in properties if answer.get(name) is not None}
    content = cast(Json, adapt(fields, schema)[0])
    missing = [f"{name}: is required" for name in list_at(schema, "required") if name not in content]
    wrong = [
        f"{name}: {problem}"
        for name, value in content.items()
        if (problem := _problem(value, cast(Schema, properties[name])))
    ]
    return content, missing + wrong


def _problem(value: Any, schema: Schema) -> str:
    """The problem with the answer to one field; empty if there is none."""
    if isinstance(value, list):
        chosen, items = cast(list[Any], value), object_at(schema, "items")
        if schema.get("type") not in (None, "array") or len(chosen) > MAX_CHOSEN:
            return "is a list"
        wrong = next((_problem(one, items) for one in chosen if _problem(one, items)), "")
        return wrong or _outside(len(chosen), schema, "minItems", "maxItems", "choices")
    if not fits(value, schema):
        return _expected(schema)
    if isinstance(value, str):
        if len(value) > MAX_ANSWER_LENGTH:
            return f"has {len(value)} characters; {MAX_ANSWER_LENGTH} are allowed"
        return _outside(len(value), schema, "minLength", "maxLength", "characters") or _format(value, schema)
    if has_type(value, "number"):
        return _outside(value, schema, "minimum", "maximum")
    return ""


def _expected(schema: Schema) -> str:
    choices = list_at(schema, "enum") or [
        cast(Json, one).get("const") for key in ("oneOf", "anyOf") for one in list_at(schema, key)
    ]
    if choices:
        return f"must be one of {', '.join(map(str, choices[:20]))}"
    words = {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "array": "a list of choices",
    }
    return f"must be {words.get(string_at(schema, 'type'), 'a text')}"


def _outside(size: float, schema: Schema, least: str, most: str, unit: str = "") -> str:
    low, high = number_at(schema, least), number_at(schema, most)
    if low is not None and size < low:
        return f"must {'have' if unit else 'be'} at least {low:g} {unit}".strip()
    if high is not None and size > high:
        return f"must {'have' if unit else 'be'} at most {high:g} {unit}".strip()
    return ""


def _format(text: str, schema: Schema) -> str:
    name = string_at(schema, "format")
    if name in _SHAPES:
        return "" if _SHAPES[name].fullmatch(text) else f"must be {'an email address' if name == 'email' else 'a URI'}"
    if name not in ("date", "date-time"):
        return ""
    try:
        (date if name == "date" else datetime).fromisoformat(text)
    except ValueError:
        return "must be a date such as 2026-11-19" if name == "date" else "must be a time such as 2026-11-19T09:00:00Z"
    return ""


def _sentence(message: str) -> str:
    message = message.removeprefix("Value error, ")
    return message[:1].lower() + message[1:]
