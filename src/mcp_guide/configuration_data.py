"""The configuration as plain data: read with every field checked, written without what is the default.

    docs_root: /home/ana/guides          # all of it may be left out
    export_folders: [/home/ana/exports]
    flags: {beta: true}
    projects:
      app:
        folder: /home/ana/app            # who works here means this project
        docs_root: /home/ana/app/docs
        mode: PLANNING
        flags: {team: core}
        folders: true                    # each folder of the document root is a category too
        categories:
          lang: {dir: lang, patterns: ["**/*"], description: One file a language.}
        collections:
          start: {expressions: [lang/python, docs]}

What else stands there is kept.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from mcp_core import ToolError
from mcp_guide import model, yaml_text
from mcp_guide.model import Category, Collection, Configuration, Project

T = TypeVar("T")
Data = dict[str, Any]
Place = tuple[str | int, ...]


class WrongShape(Exception):
    """A field is not what it should be. `place` leads to it."""

    def __init__(self, place: Place, problem: str) -> None:
        super().__init__(problem)
        self.place = place


# --- reading ------------------------------------------------------------------------------------------


def configuration_from(data: object) -> Configuration:
    """The configuration that plain data stands for."""
    fields = _mapping(data, ())
    return Configuration(
        projects=_each(fields.get("projects"), ("projects",), "project", _project),
        flags=_flags(fields.get("flags"), ("flags",)),
        export_folders=tuple(
            cast(Path, _path(one, ("export_folders", number)))
            for number, one in enumerate(_texts(fields.get("export_folders"), ("export_folders",)))
        ),
        docs_root=_path(fields.get("docs_root"), ("docs_root",)),
        extra=_others(fields, "projects", "flags", "export_folders", "docs_root"),
    )


def _project(name: str, data: object, place: Place) -> Project:
    fields = _mapping(data, place)
    with _at((*place, "mode")):
        mode = model.FIRST_MODE if fields.get("mode") is None else model.check_mode(fields["mode"])
    folders = fields.get("folders")
    if folders is not None and not isinstance(folders, bool):
        raise WrongShape((*place, "folders"), "should be true or false")
    categories = _each(fields.get("categories"), (*place, "categories"), "category", _category)
    collections = _each(fields.get("collections"), (*place, "collections"), "collection", _collection)
    if both := next((one for one in collections if one in categories), None):
        raise WrongShape((*place, "collections", both), "is the name of a category too; rename one of them")
    return Project(
        name,
        root=_path(fields.get("docs_root"), (*place, "docs_root")),
        folder=_path(fields.get("folder"), (*place, "folder")),
        categories=categories,
        collections=collections,
        flags=_flags(fields.get("flags"), (*place, "flags")),
        mode=mode,
        folders=not categories if folders is None else folders,
        extra=_others(fields, "mode", "folders", "categories", "collections", "docs_root", "folder", "flags"),
    )


def _category(name: str, data: object, place: Place) -> Category:
    fields = _mapping(data, place)
    with _at((*place, "dir")):
        folder = model.check_dir(_text(fields.get("dir"), (*place, "dir")) or name)
    with _at((*place, "patterns")):
        patterns = model.check_patterns(_texts(fields.get("patterns"), (*place, "patterns")))
    description = _text(fields.get("description"), (*place, "description"))
    return Category(name, folder, patterns, description, extra=_others(fields, "dir", "patterns", "description"))


def _collection(name: str, data: object, place: Place) -> Collection:
    fields = _mapping(data, place)
    with _at((*place, "expressions")):
        expressions = model.check_expressions(_texts(fields.get("expressions"), (*place, "expressions")))
    description = _text(fields.get("description"), (*place, "description"))
    return Collection(name, expressions, description, extra=_others(fields, "expressions", "description"))


def _flags(data: object, place: Place) -> dict[str, model.FlagValue]:
    return _each(data, place, "flag", _flag)


def _flag(name: str, data: object, place: Place) -> model.FlagValue:
    with _at(place):
        return model.check_flag(name, data)


def _each(data: object, place: Place, kind: str, read: Callable[[str, object, Place], T]) -> dict[str, T]:
    entries: dict[str, T] = {}
    for name, value in _mapping(data, place).items():
        with _at((*place, name)):
            entries[model.check_name(name, kind)] = read(name, value, (*place, name))
    return entries


@contextmanager
def _at(place: Place) -> Generator[None]:
    """What a rule of the model refuses is wrong at this place."""
    try:
        yield
    except ToolError as error:
        raise WrongShape(place, f"is wrong. {error}") from None


def _mapping(data: object, place: Place) -> Data:
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise WrongShape(place, f"should be names with values (name: value), not {_kind(data)}")
    fields = cast(dict[object, Any], data)
    if wrong := [key for key in fields if not isinstance(key, str)]:
        raise WrongShape(place, f"has the name {wrong[0]!r}, which is no text; write it in quotes")
    return cast(Data, fields)


def _text(data: object, place: Place) -> str | None:
    if data is None or isinstance(data, str):
        return data
    raise WrongShape(place, f"should be a text, not {_kind(data)}; write it in quotes")


def _texts(data: object, place: Place) -> list[str]:
    if data is None:
        return []
    if not isinstance(data, list):
        raise WrongShape(place, f"should be a list of texts, not {_kind(data)}")
    return [_text(one, (*place, number)) or "" for number, one in enumerate(cast(list[object], data))]


def _path(data: object, place: Place) -> Path | None:
    text = _text(data, place)
    if not text:
        return None
    path = Path(text).expanduser()
    if not path.is_absolute():
        raise WrongShape(place, f"should be an absolute path, not {text!r}")
    return path


def _kind(data: object) -> str:
    kind = type(data).__name__
    return {"dict": "names with values", "list": "a list", "str": "a text", "bool": "true or false"}.get(
        kind, f"a {kind}"
    )


def _others(fields: Data, *known: str) -> Data:
    return {name: value for name, value in fields.items() if name not in known}


# --- writing ------------------------------------------------------------------------------------------


def data_of(configuration: Configuration) -> Data:
    """The plain data of a configuration."""
    return {
        **_present(
            docs_root=_said(configuration.docs_root),
            export_folders=[str(folder) for folder in configuration.export_folders],
            flags=dict(configuration.flags),
            projects={name: _project_data(project) for name, project in configuration.projects.items()},
        ),
        **configuration.extra,
    }


def _project_data(project: Project) -> Data:
    made = {name: one for name, one in project.categories.items() if not one.from_folder}
    folders = None if project.folders == (not made) else project.folders
    return {
        **_present(
            folder=_said(project.folder),
            docs_root=_said(project.root),
            mode=None if project.mode == model.FIRST_MODE else project.mode,
            flags=dict(project.flags),
            folders=folders,
            categories={name: _category_data(one) for name, one in made.items()},
            collections={name: _collection_data(one) for name, one in project.collections.items()},
        ),
        **project.extra,
    }


def _category_data(category: Category) -> Data:
    patterns = [] if category.patterns == model.EVERYTHING else list(category.patterns)
    return {"dir": category.dir, **_present(patterns=patterns, description=category.description), **category.extra}


def _collection_data(collection: Collection) -> Data:
    expressions = list(collection.expressions)
    return {"expressions": expressions, **_present(description=collection.description), **collection.extra}


def _said(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _present(**fields: Any) -> Data:
    return {name: value for name, value in fields.items() if value not in (None, [], {})}


def revised(text: str, before: Configuration, after: Configuration) -> str:
    """The text of a changed configuration; what did not change keeps its words, its order and its comments."""
    old, new = data_of(before), data_of(after)
    if old == new:
        return text
    attempt = yaml_text.revise(text, old, new)
    try:
        right = configuration_from(yaml_text.load(attempt)) == configuration_from(new)
    except (WrongShape, yaml_text.YamlError):
        right = False
    return attempt if right else yaml_text.dump(new)
