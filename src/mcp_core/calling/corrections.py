"""Arguments that are not valid, and can mean one thing only: read as the tool takes them.

The schema that is published stays strict. Names in another style or place and values in another form are corrected only
where there is one way to do so. The step that parses arguments decides whether a tool is called with them.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast

from pydantic import BaseModel

from mcp_core.auth import LOCAL, Caller
from mcp_core.declare.charter import CONSENT_FIELD
from mcp_core.declare.schema import JsonSchema, json_schema, models_in_type
from mcp_core.declare.spec import ToolSpec
from mcp_core.schema.adapt import adapt, fold
from mcp_core.schema.fields import list_at, object_at

Path = tuple[str, ...]
_MAX_DEPTH = 4


class Correction(NamedTuple):
    """Corrected arguments, and what was changed."""

    arguments: dict[str, Any]
    notes: list[str]


def correct(spec: ToolSpec, arguments: Mapping[str, Any], caller: Caller) -> Correction | None:
    """The arguments as the tool takes them, as far as they can be corrected. None if nothing can be."""
    schema = taken_schema(spec.parameters)
    moved, notes = _move(spec, schema, arguments)
    user, user_argument = _user_of(caller), spec.declaration.user_argument
    if user is not None and user_argument is not None and user_argument not in moved:
        moved[user_argument] = user
        notes.append(f"{user_argument} is {user!r}, the user of this server")
    adapted, more = adapt(moved, schema)
    return Correction(cast(dict[str, Any], adapted), notes + more) if notes or more else None


def _user_of(caller: Caller) -> str | None:
    """The user behind a call: the one that is known, or the person at this machine."""
    return caller.user_id or (LOCAL if caller.key == LOCAL else None)


@lru_cache(maxsize=1024)
def taken_schema(model: type[BaseModel]) -> JsonSchema:
    """The schema of all that a model takes, also inside an object whose members the published schema leaves out.

    A literal with one value states what the person asked for or agreed to. It is not in it: nothing is read as that.
    """
    schema = json_schema(model)
    properties = {**schema["properties"]}
    for name, field in model.model_fields.items():
        shown, inner = properties.get(field.alias or name), list(models_in_type(field.annotation))
        if shown is not None and shown.get("type") == "object" and len(inner) == 1:
            properties[field.alias or name] = taken_schema(inner[0])
    free = {name: inner for name, inner in properties.items() if not _is_statement(name, inner)}
    return {**schema, "properties": free}


def _is_statement(name: str, schema: JsonSchema) -> bool:
    return name == CONSENT_FIELD or len(list_at(schema, "enum")) == 1


def targets(spec: ToolSpec, path: Path, name: str) -> list[Path]:
    """The places of a name that its object does not have: by a declared synonym, in another style, or elsewhere."""
    synonyms = spec.declaration.synonyms or {}
    declared = [target for given, target in synonyms.items() if fold(given.rpartition(".")[2]) == fold(name)]
    schema = taken_schema(spec.parameters)
    if place := synonyms.get(".".join((*path, name))) or (declared[0] if len(set(declared)) == 1 else None):
        target = tuple(place.split("."))
        if target[0] in schema["properties"]:
            return [target]
    same = [place for place in _places(schema, ()) if fold(place[-1]) == fold(name)]
    here = [place for place in same if place[:-1] == path]
    return here or same


def _places(schema: JsonSchema, path: Path) -> Iterator[Path]:
    """The places of all names in a schema, inside objects but not inside lists."""
    for name, inner in object_at(schema, "properties").items():
        yield (*path, name)
        if len(path) < _MAX_DEPTH:
            yield from _places(inner, (*path, name))


def _move(spec: ToolSpec, schema: JsonSchema, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The arguments with each unknown name under the only one that it can stand for."""
    moved, notes = _copied(arguments), list[str]()
    for path, name in list(_unknown(moved, schema, ())):
        found = targets(spec, path, name)
        if len(found) == 1 and _put(moved, found[0], _object(moved, path)[name]):
            del _object(moved, path)[name]
            notes.append(f"{'.'.join((*path, name))} was read as {'.'.join(found[0])}")
    return moved, notes


def _copied(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _copied(cast(Mapping[str, Any], value)) if isinstance(value, dict) else value
        for name, value in arguments.items()
    }


def _unknown(value: Mapping[str, Any], schema: JsonSchema, path: Path) -> Iterator[tuple[Path, str]]:
    """The names that an object does not have, with the path of the object."""
    properties = object_at(schema, "properties")
    for name, item in value.items():
        if name in properties and isinstance(item, dict):
            yield from _unknown(cast(dict[str, Any], item), properties[name], (*path, name))
        elif name not in properties and name != CONSENT_FIELD and schema.get("additionalProperties") is False:
            yield path, name


def _object(arguments: dict[str, Any], path: Path) -> dict[str, Any]:
    for name in path:
        arguments = arguments[name]
    return arguments


def _put(arguments: dict[str, Any], path: Path, value: Any) -> bool:
    """Set a value at a place, unless the place is taken."""
    for name in path[:-1]:
        inner: Any = arguments.setdefault(name, {})
        if not isinstance(inner, dict):
            return False
        arguments = cast(dict[str, Any], inner)
    if path[-1] in arguments:
        return False
    arguments[path[-1]] = value
    return True
