"""`mcp-guide import FILE`: take over a configuration of the mcp-guide project, and say what was taken and what not.

    docroot: ~/guides
    feature_flags: {beta: true}
    projects:
      app:
        categories: {lang: {dir: lang/, patterns: ["*.md"]}}     # or a list of {name: lang, dir: lang/, ...}
        collections: {start: {categories: [lang, docs/api]}}     # the same
        project_flags: {team: core}

One wrong entry costs only itself.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from mcp_core import Conflict, ToolError
from mcp_guide import model
from mcp_guide.configuration_changes import add_category, free_name, with_project
from mcp_guide.configuration_file import ConfigurationFile, default_path
from mcp_guide.content.expressions import parse
from mcp_guide.model import Collection, Configuration, FlagValue, Project
from mcp_guide.references import resolve
from mcp_guide.settings import GuideSettings
from mcp_guide.yaml_text import YamlError, load

_WHY = {
    "allowed_write_paths": "a permission is given by hand: list the folder in export_folders",
    "additional_read_paths": "nothing outside a document root is read",
}
_NOT_OURS = "has no meaning here"


@dataclass
class Imported:
    """What a file holds, in our terms, and what had to be left."""

    root: Path | None = None
    flags: dict[str, FlagValue] = field(default_factory=dict[str, FlagValue])
    projects: dict[str, Project] = field(default_factory=dict[str, Project])
    left: list[str] = field(default_factory=list[str])

    def leave(self, place: str, why: object) -> None:
        """Say that something was not taken."""
        self.left.append(f"{place}: {why}")


# --- the command --------------------------------------------------------------------------------------


def command(words: Sequence[str]) -> int:
    """Import a file and report. The answer is the exit code: 1 where nothing was taken."""
    options = _parser().parse_args(words)
    target = ConfigurationFile(options.config or GuideSettings().config or default_path())
    try:
        imported = read(options.file.read_text(encoding="utf-8-sig"))
        taken: list[str] = []
        target.change(lambda configuration: merge(configuration, imported, taken, replace_existing=options.replace))
    except (OSError, UnicodeDecodeError, YamlError, ToolError) as error:
        line = f", line {error.line}" if isinstance(error, YamlError) else ""
        sys.stderr.write(f"{options.file}{line} cannot be imported: {error}\n")
        return 1
    sys.stdout.write(_report(options.file, target.path, imported, taken))
    return 0 if taken else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mcp-guide import", description="Take over projects from a configuration file of the mcp-guide project."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="YAML or JSON, such as ~/.config/mcp-guide/config.yaml")
    parser.add_argument("--replace", action="store_true", help="replace projects and flags that are there already")
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration of the guide [TOOLCHARTER_CONFIG]")
    return parser


def _report(source: Path, target: Path, imported: Imported, taken: Sequence[str]) -> str:
    lines = [f"From {source} into {target}", "Took:", *(f"  {line}" for line in taken or ["nothing"])]
    if imported.left:
        lines += ["Left:", *(f"  {line}" for line in imported.left)]
    if taken and imported.projects:
        name = next(iter(imported.projects))
        lines += [
            f"Next: mcp-guide --project {name}",
            f"Or write `folder: /path/of/your/work` below the project in {target}; who works there means it.",
        ]
    return "\n".join([*lines, ""])


def merge(
    configuration: Configuration, imported: Imported, taken: list[str], *, replace_existing: bool
) -> Configuration:
    """The configuration with what was imported. What is there stays, unless it is to be replaced."""
    flags = dict(configuration.flags)
    for name, value in imported.flags.items():
        if flags.get(name, value) != value and not replace_existing:
            imported.leave(f"feature_flags.{name}", f"is set to {flags[name]!r} already; --replace replaces it")
        else:
            flags[name] = value
            taken.append(f"global flag {name!r}")
    after = replace(configuration, flags=flags)
    for name, project in imported.projects.items():
        if name in configuration.projects and not replace_existing:
            imported.leave(f"projects.{name}", "is there already; --replace replaces it")
        else:
            after = with_project(after, _settled(configuration, project))
            taken.append(_described(project))
    return after


def _settled(configuration: Configuration, project: Project) -> Project:
    """A project that is replaced keeps its folder and its mode: the file knows neither."""
    old = configuration.projects.get(project.name)
    return project if old is None else replace(project, folder=old.folder, mode=old.mode)


def _described(project: Project) -> str:
    counts = {"category": project.categories, "collection": project.collections, "flag": project.flags}
    parts = [f"{len(some)} {_several(kind) if len(some) != 1 else kind}" for kind, some in counts.items()]
    return f"project {project.name!r}: {', '.join(parts)}; documents in {project.root or 'the shared document root'}"


def _several(kind: str) -> str:
    return "categories" if kind == "category" else f"{kind}s"


# --- reading ------------------------------------------------------------------------------------------


def read(text: str) -> Imported:
    """What a configuration of the mcp-guide project says. Raises YamlError where it is no YAML or JSON."""
    data = _load(text)
    if not isinstance(data, dict):
        raise YamlError("is no configuration: it should have projects", 1)
    fields = cast(dict[Any, Any], data)
    imported = Imported()
    imported.root = _root(fields.get("docroot"), imported)
    imported.flags = _flags(fields.get("feature_flags"), "feature_flags", imported)
    for key, value in _entries(fields.get("projects"), "projects", imported):
        _take_project(key, value, imported)
    _leave_others(fields, ("docroot", "feature_flags", "projects"), "", imported)
    return imported


def _load(text: str) -> Any:
    """JSON may be indented with tabs, which YAML forbids."""
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            pass
    return load(text)


def _root(value: Any, imported: Imported) -> Path | None:
    if value is None:
        return None
    path = Path(os.path.expandvars(str(value))).expanduser()
    if path.is_absolute() and "$" not in str(path):
        return path
    imported.leave("docroot", f"{value!r} is no absolute path; the projects use the shared document root")
    return None


def _take_project(key: str, fields: dict[Any, Any], imported: Imported) -> None:
    # Two folders of one name have keys that differ; the name they show is the same.
    shown = _text(fields.get("name")) or key
    name = shown if model.is_name(shown) and shown not in imported.projects else key
    place = f"projects.{key}"
    try:
        project = Project(model.check_name(name, "project"), root=imported.root)
    except ToolError as error:
        imported.leave(place, error)
        return
    if name in imported.projects:
        project = replace(project, name=free_name(Configuration(projects=imported.projects), name))
    project = replace(project, flags=_flags(fields.get("project_flags"), f"{place}.project_flags", imported))
    project = _with_categories(project, fields.get("categories"), f"{place}.categories", imported)
    project = _with_collections(project, fields.get("collections"), f"{place}.collections", imported)
    _leave_others(fields, ("name", "project_flags", "categories", "collections"), f"{place}.", imported)
    imported.projects[project.name] = replace(project, folders=not project.categories)


def _with_categories(project: Project, data: Any, place: str, imported: Imported) -> Project:
    for name, fields in _entries(data, place, imported):
        try:
            patterns = _texts(fields.get("patterns"))
            project = add_category(project, name, _text(fields.get("dir")), patterns, _text(fields.get("description")))
        except ToolError as error:
            imported.leave(f"{place}.{name}", error)
            continue
        if not patterns:
            imported.leave(f"{place}.{name}", "has no patterns; it was taken with its whole folder")
        _leave_others(fields, ("name", "dir", "patterns", "description"), f"{place}.{name}.", imported)
    return project


def _with_collections(project: Project, data: Any, place: str, imported: Imported) -> Project:
    entries = _entries(data, place, imported)
    known = {*project.categories, *(name for name, _ in entries)}
    collections: dict[str, Collection] = {}
    for name, fields in entries:
        try:
            if name in project.categories:
                raise Conflict("a category has this name; rename one of them and import again")
            members = _members(_texts(fields.get("categories")), known, f"{place}.{name}", imported)
            description = model.check_description(_text(fields.get("description")))
            collections[name] = Collection(
                model.check_name(name, "collection"), model.check_expressions(members), description
            )
        except ToolError as error:
            imported.leave(f"{place}.{name}", error)
            continue
        _leave_others(fields, ("name", "categories", "description"), f"{place}.{name}.", imported)
    return _without_unsound(replace(project, collections=collections), place, imported)


def _members(expressions: Sequence[str], known: set[str], place: str, imported: Imported) -> list[str]:
    """Those that name something; a category that was renamed there leaves the others behind."""
    members: list[str] = []
    for expression in expressions:
        if missing := next((one.name for one in parse(expression) if one.name not in known), None):
            imported.leave(f"{place}.categories", f"{missing!r} is no category or collection of the project")
        else:
            members.append(expression)
    return members


def _without_unsound(project: Project, place: str, imported: Imported) -> Project:
    """Leave collections that lead in a circle, or to one that was left; that can make further ones unsound."""
    todo = list(project.collections)
    while todo:
        name = todo.pop(0)
        try:
            resolve(project, name)
        except ToolError as error:
            imported.leave(f"{place}.{name}", error)
            rest = {key: kept for key, kept in project.collections.items() if key != name}
            project, todo = replace(project, collections=rest), list(rest)
    return project


def _flags(data: Any, place: str, imported: Imported) -> dict[str, FlagValue]:
    if data is not None and not isinstance(data, dict):
        imported.leave(place, "should be names with values")
        return {}
    flags: dict[str, FlagValue] = {}
    for name, value in cast(dict[Any, Any], data or {}).items():
        try:
            flags = model.set_flag(flags, str(name), value)
        except ToolError as error:
            imported.leave(f"{place}.{name}", error)
    return flags


def _entries(data: Any, place: str, imported: Imported) -> list[tuple[str, dict[Any, Any]]]:
    """Names with their fields, from a mapping or from a list whose entries have a name."""
    found: list[tuple[Any, Any]] = []
    if isinstance(data, dict):
        found = list(cast(dict[Any, Any], data).items())
    elif isinstance(data, list):
        found = [(_name_of(one, number), one) for number, one in enumerate(cast(list[Any], data))]
    elif data is not None:
        imported.leave(place, "should be names with values, or a list")
    entries: dict[str, dict[Any, Any]] = {}
    for name, fields in found:
        if fields is not None and not isinstance(fields, dict):
            imported.leave(f"{place}.{name}", "should be names with values")
        elif str(name) in entries:
            imported.leave(f"{place}.{name}", "is there twice; the first one was taken")
        else:
            entries[str(name)] = cast(dict[Any, Any], fields or {})
    return list(entries.items())


def _name_of(entry: Any, number: int) -> Any:
    return cast(dict[Any, Any], entry).get("name", f"[{number}]") if isinstance(entry, dict) else f"[{number}]"


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    some = cast(Iterable[Any], value) if isinstance(value, list) else [value]
    return [str(one) for one in some]


def _leave_others(fields: dict[Any, Any], known: Sequence[str], place: str, imported: Imported) -> None:
    for name in fields:
        if name not in known:
            imported.leave(f"{place}{name}", _WHY.get(str(name), _NOT_OURS))
