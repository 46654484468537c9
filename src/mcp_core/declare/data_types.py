"""The distinction between arguments of an agent, which JSON can hold, and parameters that the app provides."""

from datetime import date, datetime
from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Any, get_origin

from pydantic import BaseModel, PydanticUserError, TypeAdapter

_PLAIN = frozenset({str, int, float, bool, bytes, list, dict, tuple, set, frozenset, type(None), date, datetime, Any})


def is_provided(annotation: Any) -> bool:
    """Whether a parameter of this type is filled in by the app: a class that JSON cannot hold, such as a database."""
    kind = get_origin(annotation) or annotation
    return isinstance(kind, type) and kind not in (UnionType, Annotated) and not is_data(kind)


@cache
def is_data(kind: type[Any]) -> bool:
    """Whether a JSON schema can be made of a class, such as a model, an enum, or a dataclass of such values."""
    if kind in _PLAIN or issubclass(kind, BaseModel | Enum) or hasattr(kind, "__get_pydantic_core_schema__"):
        return True
    try:
        TypeAdapter(kind).json_schema()
    except PydanticUserError:
        return False
    except Exception:  # noqa: BLE001 - it is data that is not valid, which the model of the arguments reports
        return True
    return True
