"""The configuration as plain data: every field is checked on reading; defaults are not written.

    docs_root: /home/ana/guides          # everything is optional
    export_folders: [/home/ana/exports]
    flags: {beta: true}
    projects:
      app:
        folder: /home/ana/app            # active when the work is done here
        docs_root: /home/ana/app/docs    # beside the shared documents
        team_docs_root: /home/ana/team   # between both
        mode: PLANNING
        flags: {team: core}
        folders: true                    # each folder of the document root is a category too
        categories:
          lang: {dir: lang, patterns: ["**/*"], description: One file a language.}
        collections:
          start: {expressions: [lang/python, docs]}

Unknown fields are kept.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from mcp_guide import model
from mcp_guide.configuration import yaml_text
from mcp_guide.content.patterns import compile_patterns
from mcp_guide.model import Category, Collection, Configuration, Project
from toolcharter import ToolError

T = TypeVar("T")
Data = dict[str, Any]
FieldPath = tuple[str | int, ...]
PatternLengths = dict[tuple[str, ...], int]
"""The length of all patterns that were read so far. Reading stops at the first one that is too much."""


class InvalidField(Exception):
    """A field is not valid. `path` leads to it."""

    def __init__(self, path: FieldPath, problem: str) -> None:
        super().__init__(problem)
        self.path = path


# --- reading ------------------------------------------------------------------------------------------


def from_data(data: object) -> Configuration:
    """Parse plain data into a configuration. Raises InvalidField."""
    fields = _mapping(data, ())
    parse_project = partial(_parse_project, lengths={})
    return Configuration(
        projects=_parse_entries(fields.get("projects"), ("projects",), "project", parse_project),
        flags=_parse_flags(fields.get("flags"), ("flags",)),
        export_folders=tuple(
            cast(Path, _absolute_path(one, ("export_folders", number)))
            for number, one in enumerate(_strings(fields.get("export_folders"), ("export_folders",)))
        ),
        docs_root=_absolute_path(fields.get("docs_root"), ("docs_root",)),
        extra=_unknown_fields(fields, "projects", "flags", "export_folders", "docs_root"),
    )


_PROJECT_FIELDS = (
    "mode", "folders", "categories", "collections", "docs_root", "team_docs_root", "folder", "flags",
)  # fmt: skip


def _parse_project(name: str, data: object, field: FieldPath, lengths: PatternLengths) -> Project:
    fields = _mapping(data, field)
    with _errors_at((*field, "mode")):
        mode = None if fields.get("mode") is None else model.check_mode(fields["mode"])
    folders = fields.get("folders")
    if folders is not None and not isinstance(folders, bool):
        raise InvalidField((*field, "folders"), "must be true or false")
    parse_category = partial(_parse_category, lengths=lengths)
    categories = _parse_entries(fields.get("categories"), (*field, "categories"), "category", parse_category)
    collections = _parse_entries(fields.get("collections"), (*field, "collections"), "collection", _parse_collection)
    if both := next((one for one in collections if one in categories), None):
        raise InvalidField((*field, "collections", both), "is also the name of a category; rename one of them")
    return Project(
        name,
        root=_absolute_path(fields.get("docs_root"), (*field, "docs_root")),
        team_root=_absolute_path(fields.get("team_docs_root"), (*field, "team_docs_root")),
        folder=_absolute_path(fields.get("folder"), (*field, "folder")),
        categories=categories,
        collections=collections,
        flags=_parse_flags(fields.get("flags"), (*field, "flags")),
        mode=mode,
        folders=not categories if folders is None else folders,
        extra=_unknown_fields(fields, *_PROJECT_FIELDS),
    )


def _parse_category(name: str, data: object, field: FieldPath, lengths: PatternLengths) -> Category:
    fields = _mapping(data, field)
    with _errors_at((*field, "dir")):
        folder = model.check_dir(_string(fields.get("dir"), (*field, "dir")) or name)
    with _errors_at((*field, "patterns")):
        patterns = model.check_patterns(_strings(fields.get("patterns"), (*field, "patterns")))
        lengths[patterns] = compile_patterns(patterns).length
        model.check_pattern_length(sum(lengths.values()))
    description = _string(fields.get("description"), (*field, "description"))
    return Category(
        name, folder, patterns, description, extra=_unknown_fields(fields, "dir", "patterns", "description")
    )


def _parse_collection(name: str, data: object, field: FieldPath) -> Collection:
    fields = _mapping(data, field)
    with _errors_at((*field, "expressions")):
        expressions = model.check_expressions(_strings(fields.get("expressions"), (*field, "expressions")))
    description = _string(fields.get("description"), (*field, "description"))
    return Collection(name, expressions, description, extra=_unknown_fields(fields, "expressions", "description"))


def _parse_flags(data: object, field: FieldPath) -> dict[str, model.FlagValue]:
    return _parse_entries(data, field, "flag", _parse_flag)


def _parse_flag(name: str, data: object, field: FieldPath) -> model.FlagValue:
    with _errors_at(field):
        return model.check_flag(name, data)


def _parse_entries(
    data: object, field: FieldPath, kind: str, read: Callable[[str, object, FieldPath], T]
) -> dict[str, T]:
    entries: dict[str, T] = {}
    for name, value in _mapping(data, field).items():
        with _errors_at((*field, name)):
            entries[model.check_name(name, kind)] = read(name, value, (*field, name))
    return entries


@contextmanager
def _errors_at(field: FieldPath) -> Generator[None]:
    """Raise a ToolError of the model as an error of this field."""
    try:
        yield
    except ToolError as error:
        raise InvalidField(field, f"is not valid. {error}") from None


def _mapping(data: object, field: FieldPath) -> Data:
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise InvalidField(field, f"must be a mapping (name: value), not {_describe_type(data)}")
    fields = cast(dict[object, Any], data)
    if wrong := [key for key in fields if not isinstance(key, str)]:
        raise InvalidField(field, f"has the name {wrong[0]!r}, which is not a string; write it in quotes")
    return cast(Data, fields)


def _string(data: object, field: FieldPath) -> str | None:
    if data is None or isinstance(data, str):
        return data
    raise InvalidField(field, f"must be a string, not {_describe_type(data)}; write it in quotes")


def _strings(data: object, field: FieldPath) -> list[str]:
    if data is None:
        return []
    if not isinstance(data, list):
        raise InvalidField(field, f"must be a list of strings, not {_describe_type(data)}")
    return [_string(one, (*field, number)) or "" for number, one in enumerate(cast(list[object], data))]


def _absolute_path(data: object, field: FieldPath) -> Path | None:
    text = _string(data, field)
    if not text:
        return None
    path = Path(text).expanduser()
    if not path.is_absolute():
        raise InvalidField(field, f"must be an absolute path, not {text!r}")
    return path


def _describe_type(data: object) -> str:
    kind = type(data).__name__
    names = {"dict": "a mapping", "list": "a list", "str": "a string", "bool": "true or false", "int": "an integer"}
    return names.get(kind, f"a {kind}")


def _unknown_fields(fields: Data, *known: str) -> Data:
    return {name: value for name, value in fields.items() if name not in known}


# --- writing ------------------------------------------------------------------------------------------


def to_data(configuration: Configuration) -> Data:
    """The plain data of a configuration, without defaults."""
    return {
        **_without_empty(
            docs_root=_path_text(configuration.docs_root),
            export_folders=[str(folder) for folder in configuration.export_folders],
            flags=dict(configuration.flags),
            projects={name: _project_data(project) for name, project in configuration.projects.items()},
        ),
        **configuration.extra,
    }


def _project_data(project: Project) -> Data:
    configured = {name: category for name, category in project.categories.items() if not category.from_folder}
    folders = None if project.folders == (not configured) else project.folders
    return {
        **_without_empty(
            folder=_path_text(project.folder),
            docs_root=_path_text(project.root),
            team_docs_root=_path_text(project.team_root),
            mode=project.mode,
            flags=dict(project.flags),
            folders=folders,
            categories={name: _category_data(category) for name, category in configured.items()},
            collections={name: _collection_data(collection) for name, collection in project.collections.items()},
        ),
        **project.extra,
    }


def _category_data(category: Category) -> Data:
    patterns = [] if category.patterns == model.ALL_DOCUMENTS else list(category.patterns)
    return {
        "dir": category.dir,
        **_without_empty(patterns=patterns, description=category.description),
        **category.extra,
    }


def _collection_data(collection: Collection) -> Data:
    expressions = list(collection.expressions)
    return {"expressions": expressions, **_without_empty(description=collection.description), **collection.extra}


def _path_text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _without_empty(**fields: Any) -> Data:
    return {name: value for name, value in fields.items() if value not in (None, [], {})}


def revise_text(text: str, before: Configuration, after: Configuration) -> str:
    """The text of a changed configuration. Unchanged entries keep their text, order and comments."""
    old, new = to_data(before), to_data(after)
    if old == new:
        return text
    revised = yaml_text.revise(text, old, new)
    try:
        is_correct = from_data(yaml_text.load(revised)) == from_data(new)
    except (InvalidField, yaml_text.YamlError):
        is_correct = False
    return revised if is_correct else yaml_text.dump(new)
