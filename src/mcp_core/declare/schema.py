"""From a handler's signature to the model that validates its arguments and the schema that agents read.

A handler takes one argument model, or plain type hints; the agent sees a flat list either way.
"""

import inspect
import sys
import typing
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PydanticSchemaGenerationError,
    SecretBytes,
    SecretStr,
    create_model,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import SchemaValidator, core_schema

from mcp_core.context import ToolContext
from mcp_core.declare import docstring
from mcp_core.declare.charter import CONSENT_FIELD
from mcp_core.declare.data_types import is_provided
from mcp_core.mcp_log import is_secret_name
from mcp_core.schema.walk import walk

MAX_ITEMS = 1000
"""The largest length of a list or object argument that declares none."""

JsonSchema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a handler: the arguments that agents see, and those that are filled in."""

    model: type[BaseModel]
    model_parameter: str | None
    """The parameter that takes the whole model; None where each field is a parameter of its own."""
    context_parameter: str | None
    needs: Mapping[str, Any]
    """Parameters that the app provides, and their types, which are classes that JSON cannot hold."""
    returns: Any
    is_async: bool
    host_context: str | None = None
    """The parameter that takes the MCP library's own context; only that library's server can fill it in."""
    validator: SchemaValidator | None = None
    """Validates in place of the model, for tools of which the model knows less than their schema."""


class UnreadableSignature(Exception):
    """No argument model can be made of a signature. The message says why."""


def read_signature(function: Callable[..., Any], consent: str | None = None) -> Signature:
    """Take a handler's signature apart and make its argument model."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise UnreadableSignature(f"has a type hint that cannot be resolved ({error}); import the type") from error
    _check_typed_dicts(hints.values())
    context: str | None = None
    host_context: str | None = None
    needs: dict[str, Any] = {}
    plain: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = hints.get(name, Any)
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise UnreadableSignature(f"takes {parameter}; agents send named arguments, so give each one a name")
        if annotation is ToolContext or ToolContext in get_args(annotation):
            context = name
        elif _is_host_context(annotation):
            host_context = name
        elif is_provided(annotation):
            needs[name] = annotation
        else:
            plain[name] = parameter.replace(annotation=annotation)
    single = _model_parameter(plain)
    model = _forbid_extra(hints[single]) if single else _model_from_parameters(function, plain)
    return Signature(
        model=_with_consent(model, consent),
        model_parameter=single,
        context_parameter=context,
        needs=needs,
        returns=hints.get("return", Any),
        is_async=inspect.iscoroutinefunction(function),
        host_context=host_context,
    )


def _check_typed_dicts(annotations: Iterable[Any]) -> None:
    """Pydantic cannot read a `typing.TypedDict` before Python 3.12, and values would go unchecked."""
    if sys.version_info >= (3, 12):
        return
    for kind in (kind for annotation in annotations for kind in _types_in(annotation)):
        if typing.is_typeddict(kind):
            raise UnreadableSignature(f"uses {kind.__name__}, a typing.TypedDict; import it from typing_extensions")


def _is_host_context(annotation: Any) -> bool:
    """Return whether an annotation is the `Context` of an MCP library. Known by name: nothing here imports one."""
    kinds = (annotation, get_origin(annotation), *get_args(annotation))
    contexts = [k for k in kinds if getattr(k, "__name__", "") == "Context"]
    return any(str(k.__module__).partition(".")[0] in ("mcp", "fastmcp") for k in contexts)


def _model_parameter(plain: Mapping[str, inspect.Parameter]) -> str | None:
    """The name of the only parameter, where its type is a model."""
    if len(plain) != 1:
        return None
    ((name, parameter),) = plain.items()
    annotation: Any = parameter.annotation
    return name if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _forbid_extra(model: type[BaseModel]) -> type[BaseModel]:
    """The model itself, or a subclass of it that refuses unknown arguments."""
    if model.model_config.get("extra") == "forbid":
        return model
    members = {"model_config": ConfigDict(extra="forbid"), "__module__": model.__module__, "__doc__": model.__doc__}
    return cast(type[BaseModel], type(model.__name__, (model,), members))


def _model_from_parameters(function: Callable[..., Any], plain: Mapping[str, inspect.Parameter]) -> type[BaseModel]:
    described = docstring.parse(function).arguments
    fields: dict[str, Any] = {}
    for name, parameter in plain.items():
        annotation: Any = parameter.annotation
        if name.startswith("_") or (name.startswith("model_") and hasattr(BaseModel, name)):
            raise UnreadableSignature(f"takes {name}, which is not a valid argument name; rename it")
        if name in described and not _has_description(annotation):
            annotation = Annotated[annotation, Field(description=described[name])]
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (annotation, default)
    title = "".join(word.title() for word in function.__name__.split("_"))
    config = ConfigDict(extra="forbid", validate_assignment=True)
    with warnings.catch_warnings():
        # An argument may be called `schema` or `copy`: the model is asked for its fields only.
        warnings.filterwarnings("ignore", message="Field name .* shadows an attribute", category=UserWarning)
        try:
            return create_model(f"{title}Arguments", __config__=config, __module__=function.__module__, **fields)
        except PydanticSchemaGenerationError as error:
            words = str(error).partition(". ")[0]
            raise UnreadableSignature(f"has an argument that JSON cannot hold ({words}); use plain types") from error


def _has_description(annotation: Any) -> bool:
    if get_origin(annotation) is not Annotated:
        return False
    return any(isinstance(a, FieldInfo) and a.description for a in get_args(annotation)[1:])


def _with_consent(model: type[BaseModel], consent: str | None) -> type[BaseModel]:
    """The model with the literal that a destructive tool demands, where its author has not written it."""
    if consent is None or any(CONSENT_FIELD in inside.model_fields for inside in _models_in(model)):
        return model
    words = f"Must be '{consent}' to confirm that the user asked for this action."
    # Its own alias: the charter's word is the same where a model spells its fields in another way.
    field = Field(alias=CONSENT_FIELD, description=words)
    return create_model(model.__name__, __base__=model, **{CONSENT_FIELD: (Literal[consent], field)})  # pyright: ignore[reportCallIssue, reportUnknownVariableType, reportArgumentType]


def consent_literal(model: type[BaseModel]) -> str | None:
    """The literal that the model, or a model inside it, demands as consent."""
    fields = (inside.model_fields.get(CONSENT_FIELD) for inside in _models_in(model))
    for field in filter(None, fields):
        values = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
        if len(values) == 1 and isinstance(values[0], str):
            return values[0]
    return None


def secret_fields(model: type[BaseModel]) -> frozenset[str]:
    """The arguments that no log may show: secret types, secret names, and those declared secret."""

    def is_secret(name: str, field: FieldInfo) -> bool:
        extra: Any = field.json_schema_extra
        declared = isinstance(extra, dict) and bool(cast(JsonSchema, extra).get("secret"))
        typed = any(kind in (SecretStr, SecretBytes) for kind in _types_in(field.annotation))
        return declared or typed or is_secret_name(name)

    names: set[str] = set()
    for inside in _models_in(model):
        for name, field in inside.model_fields.items():
            if is_secret(name, field):
                names |= {name, field.alias or name}
    return frozenset(names)


def _types_in(annotation: Any) -> Iterator[Any]:
    """A type, and whatever it is made of: `list[A] | None` holds a list, A and None."""
    yield annotation
    for part in get_args(annotation):
        yield from _types_in(part)


def _models_in(model: type[BaseModel]) -> list[type[BaseModel]]:
    """A model and all models inside it."""
    models = [model]
    for known in models:  # grows while it is read
        inner = [kind for field in known.model_fields.values() for kind in models_in_type(field.annotation)]
        models += [inside for inside in dict.fromkeys(inner) if inside not in models]
    return models


def models_in_type(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type names, such as `A` in `list[A] | None`."""
    for kind in _types_in(annotation):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind


# --- JSON Schema -------------------------------------------------------------------------------------------


class OutputSchemaGenerator(GenerateJsonSchema):
    """Without titles, which repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic names it
        return False


class _InputSchemaGenerator(OutputSchemaGenerator):
    """Also without `null` where leaving an argument out means the same, and with a largest length for each list.

    The step of a call that parses the arguments enforces it.
    """

    def list_schema(self, schema: core_schema.ListSchema) -> JsonSchemaValue:
        return {"maxItems": MAX_ITEMS} | super().list_schema(schema)

    def set_schema(self, schema: core_schema.SetSchema) -> JsonSchemaValue:
        return {"maxItems": MAX_ITEMS} | super().set_schema(schema)

    def frozenset_schema(self, schema: core_schema.FrozenSetSchema) -> JsonSchemaValue:
        return {"maxItems": MAX_ITEMS} | super().frozenset_schema(schema)

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        return {"maxProperties": MAX_ITEMS} | super().dict_schema(schema)

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        inner: Any = schema["schema"]
        if "default" in schema and schema["default"] is None and inner["type"] == "nullable":
            return self.generate_inner(inner["schema"])
        result = super().default_schema(schema)
        if result.get("default", ...) is None and result.get("type", "null") != "null":
            del result["default"]  # `str | SkipJsonSchema[None]` shows no null, so null is not shown as a default
        return result


def json_schema(model: type[BaseModel]) -> JsonSchema:
    """The input schema of a model: one flat object, references written out."""
    schema = inline_references(model.model_json_schema(schema_generator=_InputSchemaGenerator, by_alias=True))
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return schema


_INSIDE = ("properties", "items", "additionalProperties", "anyOf", "oneOf", "prefixItems")


def undescribed(schema: JsonSchema) -> Iterator[str]:
    """The arguments without a description, those inside others included."""
    for node in walk(schema, inside=lambda _: _INSIDE):
        if node.keyword == "properties" and not node.schema.get("description"):
            yield ".".join(node.names)


def inline_references(schema: JsonSchema) -> JsonSchema:
    """The schema with every reference written out, and without titles."""
    definitions: JsonSchema = schema.pop("$defs", {})
    return cast(JsonSchema, _inline(schema, definitions, ()))


def _inline(node: Any, definitions: JsonSchema, path: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inline(item, definitions, path) for item in cast(list[Any], node)]
    if not isinstance(node, dict):
        return node
    schema = cast(JsonSchema, node)
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        if name in path:
            # A model that contains itself has no finite form: the inner one is left open.
            return {"type": "object", "description": f"Another {name}, of the same form."}
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return {**_inline(definitions[name], definitions, (*path, name)), **_inline(rest, definitions, path)}
    out: JsonSchema = {}
    for key, value in schema.items():
        if (key == "title" and isinstance(value, str)) or key == "discriminator":
            # A discriminator points to definitions that are written out here, and is not part of JSON Schema.
            continue
        if key == "const":
            out["enum"] = [value]
        elif key in ("properties", "patternProperties"):
            out[key] = {name: _inline(item, definitions, path) for name, item in value.items()}
        elif key in ("default", "examples", "enum"):
            out[key] = value
        else:
            out[key] = _inline(value, definitions, path)
    return out
