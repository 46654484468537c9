"""TOML files that people write by hand. An error names the file, the line and the key, and says what to do."""

import difflib
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from mcp_core.files.toml_lines import key_text, line_of
from mcp_core.mcp_log import is_secret_name
from mcp_core.process.start_errors import InvalidSetting

M = TypeVar("M", bound=BaseModel)

Keys = tuple[str | int, ...]
"""The way from the top of a file to a value."""


class TomlFile(NamedTuple):
    """A file and its content."""

    path: Path
    text: str
    content: dict[str, Any]

    def error(self, keys: Sequence[str | int], problem: str) -> InvalidSetting:
        """The error for a value in this file."""
        return InvalidSetting(f"{self.path}, line {line_of(self.text, keys)}: {key_text(keys)}: {problem}")

    def read(self, model: type[M], content: Any = None, keys: Keys = ()) -> M:
        """The content, or a part of it at `keys`, as a model. Raises InvalidSetting for the first error."""
        try:
            return model.model_validate(self.content if content is None else content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise self.error((*keys, *first["loc"]), _problem(model, first)) from None


def read_toml(path: Path) -> TomlFile:
    """Read a file. Raises InvalidSetting where it cannot be read, or is not TOML."""
    try:
        text = path.read_text(encoding="utf-8")
        return TomlFile(path, text, tomllib.loads(text))
    except OSError as error:
        raise InvalidSetting(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InvalidSetting(f"{path} is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(f"{path} is not valid TOML: {error}.") from None


def _problem(model: type[BaseModel], error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        names = list(_names_at(model, error["loc"][:-1]))
        nearest = difflib.get_close_matches(str(error["loc"][-1]), names, n=1)
        guess = f" Did you mean {nearest[0]}?" if nearest else ""
        return f"is not a known key.{guess} Known keys: {', '.join(names)}."
    if error["type"] == "missing":
        return "is missing."
    message = error["msg"].removeprefix("Value error, ")
    value, is_secret = error["input"], any(is_secret_name(str(key)) for key in error["loc"])
    shown = f", got {value!r}" if isinstance(value, str | int | float | bool) and not is_secret else ""
    return f"{message[0].lower()}{message[1:]}{shown}."


def _names_at(model: type[BaseModel], place: Sequence[int | str]) -> Iterator[str]:
    """The keys of a model, or of the model at a place inside it."""
    for part in place:
        field = model.model_fields.get(str(part))
        inner = None if field is None else next(_models_in(field.annotation), None)
        model = inner or model
    for name, field in model.model_fields.items():
        yield field.alias or name


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)
