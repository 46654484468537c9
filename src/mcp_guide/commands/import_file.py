"""`mcp-guide import FILE`: import a configuration of the mcp-guide project, and report what was imported or skipped.

    docroot: ~/guides
    feature_flags: {beta: true}
    projects:
      app:
        categories: {lang: {dir: lang/, patterns: ["*.md"]}}     # or a list of {name: lang, dir: lang/, ...}
        collections: {start: {categories: [lang, docs/api]}}     # or a list
        project_flags: {team: core}

An entry that is not valid is skipped; the others are imported.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from mcp_guide import model
from mcp_guide.configuration.changes import add_category, free_name, with_project
from mcp_guide.configuration.file import ConfigurationFile
from mcp_guide.configuration.references import resolve_expression
from mcp_guide.configuration.yaml_text import YamlError, load
from mcp_guide.content.expressions import parse_expression
from mcp_guide.model import Collection, Configuration, FlagValue, Project
from mcp_guide.settings import GuideSettings, default_config_path
from toolcharter import Conflict, ToolError
from toolcharter.foreign import print_text

_SKIP_REASONS = {
    "allowed_write_paths": "not imported: add the folder to export_folders by hand",
    "additional_read_paths": "not supported: only the document root is read",
}
_UNKNOWN_FIELD = "unknown field"


@dataclass
class ImportedConfiguration:
    """The contents of a file in our terms, and what was skipped."""

    root: Path | None = None
    flags: dict[str, FlagValue] = field(default_factory=dict[str, FlagValue])
    projects: dict[str, Project] = field(default_factory=dict[str, Project])
    skipped: list[str] = field(default_factory=list[str])

    def skip(self, place: str, reason: object) -> None:
        """Record that a field is not imported."""
        self.skipped.append(f"{place}: {reason}")


# --- the command --------------------------------------------------------------------------------------


def command(arguments: Sequence[str]) -> int:
    """Run `mcp-guide import` and return the exit code: 1 if nothing was imported."""
    options = _parser().parse_args(arguments)
    target = ConfigurationFile(options.config or GuideSettings().config or default_config_path())
    try:
        imported = parse(options.file.read_text(encoding="utf-8-sig"))
        _skip_templates(imported)
        merged: list[str] = []
        target.change(lambda configuration: merge(configuration, imported, merged, replace_existing=options.replace))
    except (OSError, UnicodeDecodeError, YamlError, ToolError) as error:
        line = f", line {error.line}" if isinstance(error, YamlError) else ""
        reason = (isinstance(error, OSError) and error.strerror) or error
        print_text(f"{options.file}{line} cannot be imported: {reason}", file=sys.stderr)
        return 1
    print_text(_report(options.file, target.path, imported, merged), end="")
    return 0 if merged else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mcp-guide import", description="Import projects from a configuration file of the mcp-guide project."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="YAML or JSON, such as ~/.config/mcp-guide/config.yaml")
    parser.add_argument("--replace", action="store_true", help="replace existing projects and flags")
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration of the guide [TOOLCHARTER_CONFIG]")
    return parser


def _report(source: Path, target: Path, imported: ImportedConfiguration, merged: Sequence[str]) -> str:
    lines = [f"From {source} into {target}", "Imported:", *(f"  {line}" for line in merged or ["nothing"])]
    if imported.skipped:
        lines += ["Skipped:", *(f"  {line}" for line in imported.skipped)]
    if merged and imported.projects:
        name = next(iter(imported.projects))
        lines += [
            f"Next: mcp-guide --project {name}",
            f"Or set `folder: /path/to/your/work` of the project in {target}, to make it active in that folder.",
        ]
    return "\n".join([*lines, ""])


def merge(
    configuration: Configuration, imported: ImportedConfiguration, merged: list[str], *, replace_existing: bool
) -> Configuration:
    """Add what was imported to the configuration, and name it in `merged`. Existing entries stay by default."""
    flags = dict(configuration.flags)
    for name, value in imported.flags.items():
        if flags.get(name, value) != value and not replace_existing:
            imported.skip(f"feature_flags.{name}", f"already set to {flags[name]!r}; --replace replaces it")
        else:
            flags[name] = value
            merged.append(f"global flag {name!r}")
    after = replace(configuration, flags=flags)
    for name, project in imported.projects.items():
        if name in configuration.projects and not replace_existing:
            imported.skip(f"projects.{name}", "already exists; --replace replaces it")
        else:
            after = with_project(after, _keep_folder_and_mode(configuration, project))
            merged.append(_describe(project))
    return after


def _keep_folder_and_mode(configuration: Configuration, project: Project) -> Project:
    """A replaced project keeps its folder and mode: the imported file has neither."""
    old = configuration.projects.get(project.name)
    return project if old is None else replace(project, folder=old.folder, mode=old.mode)


def _describe(project: Project) -> str:
    counts = {"category": project.categories, "collection": project.collections, "flag": project.flags}
    parts = [f"{len(entries)} {_plural(kind) if len(entries) != 1 else kind}" for kind, entries in counts.items()]
    return f"project {project.name!r}: {', '.join(parts)}; documents in {project.root or 'the shared document root'}"


def _plural(kind: str) -> str:
    return "categories" if kind == "category" else f"{kind}s"


# --- parsing ------------------------------------------------------------------------------------------


def parse(text: str) -> ImportedConfiguration:
    """Parse a configuration of the mcp-guide project. Raises YamlError if it is not valid YAML or JSON."""
    data = _load_text(text)
    if not isinstance(data, dict):
        raise YamlError("it is not a configuration: it has no projects", 1)
    fields = cast(dict[Any, Any], data)
    imported = ImportedConfiguration()
    imported.root = _import_root(fields.get("docroot"), imported)
    imported.flags = _import_flags(fields.get("feature_flags"), "feature_flags", imported)
    for key, value in _entries(fields.get("projects"), "projects", imported):
        _import_project(key, value, imported)
    _skip_unknown(fields, ("docroot", "feature_flags", "projects"), "", imported)
    return imported


def _load_text(text: str) -> Any:
    """Load YAML or JSON. JSON may be indented with tabs, which YAML forbids."""
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            pass
    return load(text)


def _import_root(value: Any, imported: ImportedConfiguration) -> Path | None:
    if value is None:
        return None
    path = Path(os.path.expandvars(str(value))).expanduser()
    if path.is_absolute() and "$" not in str(path):
        return path
    imported.skip("docroot", f"{value!r} is not an absolute path; the projects use the shared document root")
    return None


def _skip_templates(imported: ImportedConfiguration) -> None:
    """Report the templates in the document root: their documents are returned as written."""
    if imported.root is not None and (count := sum(1 for _ in imported.root.rglob("*.mustache"))):
        files = "1 template (*.mustache) is" if count == 1 else f"{count:,} templates (*.mustache) are"
        imported.skip(f"docroot {imported.root}", f"{files} not rendered; the text is returned as written")


def _import_project(key: str, fields: dict[Any, Any], imported: ImportedConfiguration) -> None:
    # Two folders with the same name have the same display name; only their keys differ.
    display_name = _string(fields.get("name")) or key
    name = display_name if model.is_name(display_name) and display_name not in imported.projects else key
    place = f"projects.{key}"
    try:
        project = Project(model.check_name(name, "project"), root=imported.root)
    except ToolError as error:
        imported.skip(place, error)
        return
    if name in imported.projects:
        project = replace(project, name=free_name(Configuration(projects=imported.projects), name))
    project = replace(project, flags=_import_flags(fields.get("project_flags"), f"{place}.project_flags", imported))
    project = _import_categories(project, fields.get("categories"), f"{place}.categories", imported)
    project = _import_collections(project, fields.get("collections"), f"{place}.collections", imported)
    _skip_unknown(fields, ("name", "project_flags", "categories", "collections"), f"{place}.", imported)
    imported.projects[project.name] = replace(project, folders=not project.categories)


def _import_categories(project: Project, data: Any, place: str, imported: ImportedConfiguration) -> Project:
    for name, fields in _entries(data, place, imported):
        try:
            patterns = _strings(fields.get("patterns"))
            project = add_category(
                project, name, _string(fields.get("dir")), patterns, _string(fields.get("description"))
            )
        except ToolError as error:
            imported.skip(f"{place}.{name}", error)
            continue
        if not patterns:
            imported.skip(f"{place}.{name}", "has no patterns; imported with all documents of its folder")
        _skip_unknown(fields, ("name", "dir", "patterns", "description"), f"{place}.{name}.", imported)
    return project


def _import_collections(project: Project, data: Any, place: str, imported: ImportedConfiguration) -> Project:
    entries = _entries(data, place, imported)
    known = {*project.categories, *(name for name, _ in entries)}
    collections: dict[str, Collection] = {}
    for name, fields in entries:
        try:
            if name in project.categories:
                raise Conflict("a category has the same name; rename one of them and import again")
            members = _known_members(_strings(fields.get("categories")), known, f"{place}.{name}", imported)
            description = model.check_description(_string(fields.get("description")))
            collections[name] = Collection(
                model.check_name(name, "collection"), model.check_expressions(members), description
            )
        except ToolError as error:
            imported.skip(f"{place}.{name}", error)
            continue
        _skip_unknown(fields, ("name", "categories", "description"), f"{place}.{name}.", imported)
    return _drop_unresolvable(replace(project, collections=collections), place, imported)


def _known_members(
    expressions: Sequence[str], known: set[str], place: str, imported: ImportedConfiguration
) -> list[str]:
    """The expressions whose names exist. That project does not update collections when a category is renamed."""
    members: list[str] = []
    for expression in expressions:
        names = [specification.name for specification in parse_expression(expression)]
        if missing := next((name for name in names if name not in known), None):
            imported.skip(f"{place}.categories", f"{missing!r} is not a category or collection of the project")
        else:
            members.append(expression)
    return members


def _drop_unresolvable(project: Project, place: str, imported: ImportedConfiguration) -> Project:
    """Skip collections that refer to themselves or to a skipped one, until all can be resolved."""
    unchecked = list(project.collections)
    while unchecked:
        name = unchecked.pop(0)
        try:
            resolve_expression(project, name)
        except ToolError as error:
            imported.skip(f"{place}.{name}", error)
            rest = {key: collection for key, collection in project.collections.items() if key != name}
            project, unchecked = replace(project, collections=rest), list(rest)
    return project


def _import_flags(data: Any, place: str, imported: ImportedConfiguration) -> dict[str, FlagValue]:
    if data is not None and not isinstance(data, dict):
        imported.skip(place, "must be a mapping")
        return {}
    flags: dict[str, FlagValue] = {}
    for name, value in cast(dict[Any, Any], data or {}).items():
        try:
            flags = model.set_flag(flags, str(name), value)
        except ToolError as error:
            imported.skip(f"{place}.{name}", error)
    return flags


def _entries(data: Any, place: str, imported: ImportedConfiguration) -> list[tuple[str, dict[Any, Any]]]:
    """Names with their fields, from a mapping or from a list of entries with a name."""
    items: list[tuple[Any, Any]] = []
    if isinstance(data, dict):
        items = list(cast(dict[Any, Any], data).items())
    elif isinstance(data, list):
        items = [(_entry_name(entry, number), entry) for number, entry in enumerate(cast(list[Any], data))]
    elif data is not None:
        imported.skip(place, "must be a mapping or a list")
    entries: dict[str, dict[Any, Any]] = {}
    for name, fields in items:
        if fields is not None and not isinstance(fields, dict):
            imported.skip(f"{place}.{name}", "must be a mapping")
        elif str(name) in entries:
            imported.skip(f"{place}.{name}", "occurs twice; the first one was imported")
        else:
            entries[str(name)] = cast(dict[Any, Any], fields or {})
    return list(entries.items())


def _entry_name(entry: Any, number: int) -> Any:
    return cast(dict[Any, Any], entry).get("name", f"[{number}]") if isinstance(entry, dict) else f"[{number}]"


def _string(value: Any) -> str | None:
    return None if value is None else str(value)


def _strings(value: Any) -> list[str]:
    if value is None:
        return []
    items = cast(Iterable[Any], value) if isinstance(value, list) else [value]
    return [str(item) for item in items]


def _skip_unknown(fields: dict[Any, Any], known: Sequence[str], place: str, imported: ImportedConfiguration) -> None:
    for name in fields:
        if name not in known:
            imported.skip(f"{place}{name}", _SKIP_REASONS.get(str(name), _UNKNOWN_FIELD))
