"""A tool as `tools/list` shows it: all that a client, an agent or a contract can see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool of any server, ours or not."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    output_schema: Mapping[str, Any] | None = None
    icons: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def from_wire(cls, entry: Any) -> "ListedTool":
        """Read an entry of a tools/list answer. A value of the wrong type counts as missing; a name is required."""
        fields = _object(entry)
        name = fields.get("name")
        if not isinstance(name, str):
            raise ValueError(f"this tool has no name: {str(entry)[:80]}")  # noqa: TRY004 - bad data
        schema = fields.get("outputSchema")
        return cls(
            name=name,
            title=_text(fields.get("title")),
            description=_text(fields.get("description")),
            input_schema=_object(fields.get("inputSchema")),
            annotations=_object(fields.get("annotations")),
            meta=_object(fields.get("_meta")),
            output_schema=cast(Mapping[str, Any], schema) if isinstance(schema, dict) else None,
            icons=_objects(fields.get("icons")),
        )

    def to_wire(self) -> dict[str, Any]:
        """The entry as a server sends it, without what is empty."""
        fields: dict[str, Any] = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "icons": list(self.icons),
            "inputSchema": dict(self.input_schema),
            "outputSchema": self.output_schema,
            "annotations": dict(self.annotations),
            "_meta": dict(self.meta),
        }
        return {key: value for key, value in fields.items() if value not in (None, "", {}, []) or key == "inputSchema"}

    def for_model(self) -> dict[str, Any]:
        """The fields that clients hand to a model in every request; the rest costs it nothing."""
        return {"name": self.name, "description": self.description, "inputSchema": dict(self.input_schema)}


def read_tools(answer: Any) -> list[ListedTool]:
    """The tools of a tools/list answer, of its result, or of a bare list. Raises ValueError."""
    if isinstance(answer, dict):
        fields = cast(dict[str, Any], answer)
        answer = fields.get("tools", _object(fields.get("result")).get("tools"))
    if not isinstance(answer, list):
        raise ValueError('this is not a tools/list answer, which looks like {"tools": [...]} or [...]')  # noqa: TRY004 - bad data
    return [ListedTool.from_wire(entry) for entry in cast(list[Any], answer)]


def _object(value: Any) -> Mapping[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _objects(value: Any) -> Sequence[Mapping[str, Any]]:
    items = cast(list[Any], value) if isinstance(value, list) else []
    return tuple(cast(dict[str, Any], item) for item in items if isinstance(item, dict))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
