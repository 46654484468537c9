"""Changes of the configuration: each takes a record and returns a changed copy, or raises. No I/O.

A category or collection that collections name is not removed. When it is renamed, they are updated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from mcp_guide import model
from mcp_guide.configuration.references import find_references, rename_reference, resolve_expression
from mcp_guide.model import Category, Collection, Configuration, FlagValue, Project
from toolcharter import Conflict

T = TypeVar("T")
P = ParamSpec("P")

# --- categories ---------------------------------------------------------------------------------------


def add_category(
    project: Project,
    name: str,
    dir: str | None = None,
    patterns: Sequence[str] = (),
    description: str | None = None,
) -> Project:
    """Add a category; `dir` is its name by default. It replaces a category that comes from a folder."""
    existing = project.categories.get(name)
    if existing is not None and not existing.from_folder:
        raise Conflict(
            f"The project {project.name!r} already has a category {name!r}. Use change_category to change it."
        )
    _require_unused(project.collections, name, "collection", project)
    category = Category(
        model.check_name(name, "category"),
        model.check_dir(dir or name),
        model.check_patterns(patterns),
        model.check_description(description),
    )
    return _with_category(project, category)


def change_category(
    project: Project,
    name: str,
    *,
    new_name: str | None = None,
    dir: str | None = None,
    patterns: Sequence[str] | None = None,
    description: str | None = None,
) -> Project:
    """Change the given fields. An empty description or an empty list of patterns removes them."""
    category = model.find_category(project, name)
    changed = replace(
        category,
        dir=category.dir if dir is None else model.check_dir(dir),
        patterns=category.patterns if patterns is None else model.check_patterns(patterns),
        description=category.description if description is None else model.check_description(description),
        from_folder=False,
    )
    if new_name is None or new_name == name:
        return _with_category(project, changed)
    if category.from_folder:
        raise Conflict(
            f"The category {name!r} comes from a folder and cannot be renamed. "
            f"Add a category {new_name!r} with dir {name!r} instead."
        )
    _require_free_name(project, new_name)
    renamed = replace(changed, name=model.check_name(new_name, "category"))
    categories = _rename_key(project.categories, name, new_name, renamed)
    return _update_references(replace(project, categories=categories), name, new_name)


def remove_category(project: Project, name: str) -> Project:
    """Remove a category; its documents stay."""
    category = model.find_category(project, name)
    if category.from_folder:
        raise Conflict(f"The category {name!r} comes from a folder. To remove it, rename or delete the folder.")
    _require_unreferenced(project, name, "category")
    return replace(project, categories=_without(project.categories, name))


def _with_category(project: Project, category: Category) -> Project:
    return replace(project, categories={**project.categories, category.name: category})


# --- collections --------------------------------------------------------------------------------------


def add_collection(project: Project, name: str, expressions: Sequence[str], description: str | None = None) -> Project:
    """Add a collection. Everything it names must exist and not refer back to it."""
    _require_free_name(project, name)
    return _with_collection(
        project,
        Collection(
            model.check_name(name, "collection"),
            model.check_expressions(expressions),
            model.check_description(description),
        ),
    )


def change_collection(
    project: Project,
    name: str,
    *,
    new_name: str | None = None,
    expressions: Sequence[str] | None = None,
    description: str | None = None,
) -> Project:
    """Change the given fields. An empty description removes it."""
    collection = model.find_collection(project, name)
    changed = replace(
        collection,
        expressions=collection.expressions if expressions is None else model.check_expressions(expressions),
        description=collection.description if description is None else model.check_description(description),
    )
    if new_name is None or new_name == name:
        return _with_collection(project, changed)
    _require_free_name(project, new_name)
    renamed = replace(changed, name=model.check_name(new_name, "collection"))
    collections = _rename_key(project.collections, name, new_name, renamed)
    updated = _update_references(replace(project, collections=collections), name, new_name)
    return _with_collection(updated, updated.collections[new_name])


def remove_collection(project: Project, name: str) -> Project:
    """Remove a collection; what it names stays."""
    model.find_collection(project, name)
    _require_unreferenced(project, name, "collection")
    return replace(project, collections=_without(project.collections, name))


def _with_collection(project: Project, collection: Collection) -> Project:
    after = replace(project, collections={**project.collections, collection.name: collection})
    resolve_expression(after, collection.name)
    return after


def _update_references(project: Project, old: str, new: str) -> Project:
    """Rename a name in the collections that refer to it; the others keep their text."""
    collections = dict(project.collections)
    for name in find_references(project, old):
        expressions = tuple(rename_reference(text, old, new) for text in collections[name].expressions)
        collections[name] = replace(collections[name], expressions=expressions)
    return replace(project, collections=collections)


# --- projects -----------------------------------------------------------------------------------------


def change_project(
    configuration: Configuration,
    name: str,
    function: Callable[Concatenate[Project, P], Project],
    *arguments: P.args,
    **named: P.kwargs,
) -> Configuration:
    """Change one project. The default project becomes part of the configuration by that."""
    project = model.find_project(configuration, name)
    return with_project(configuration, function(project, *arguments, **named))


def with_project(configuration: Configuration, project: Project) -> Configuration:
    """The configuration with this project added or replaced."""
    changed = replace(configuration, projects={**configuration.projects, project.name: project})
    model.check_all_patterns(changed)
    return changed


def clone_project(configuration: Configuration, source: str, name: str, *, folder: Path | None = None) -> Configuration:
    """Add a project with the categories, collections, flags and document root of another, without a mode."""
    _require_free_project_name(configuration, name)
    _require_free_folder(configuration, folder)
    copy = replace(
        model.find_project(configuration, source),
        name=model.check_name(name, "project"),
        folder=folder,
        mode=None,
    )
    return with_project(configuration, copy)


def rename_project(configuration: Configuration, name: str, new_name: str) -> Configuration:
    project = model.find_project(configuration, name)
    if name == model.DEFAULT_PROJECT:
        raise Conflict("The default project cannot be renamed. Use clone_project to copy it under another name.")
    _require_free_project_name(configuration, new_name)
    renamed = replace(project, name=model.check_name(new_name, "project"))
    return replace(configuration, projects=_rename_key(configuration.projects, name, new_name, renamed))


def move_project(configuration: Configuration, name: str, folder: Path) -> Configuration:
    """Give a project another working folder."""
    _require_free_folder(configuration, folder, except_for=name)
    return with_project(configuration, replace(model.find_project(configuration, name), folder=folder))


def remove_project(configuration: Configuration, name: str) -> Configuration:
    """Remove a project; its documents stay. The default project is reset by that."""
    model.find_project(configuration, name)
    return replace(configuration, projects=_without(configuration.projects, name))


def free_name(configuration: Configuration, wanted: str) -> str:
    """A name for a new project: the wanted one, with a number if it is taken."""
    taken = set(model.project_names(configuration))
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name


def _require_free_project_name(configuration: Configuration, name: str) -> None:
    if name in model.project_names(configuration):
        free = free_name(configuration, name)
        raise Conflict(f"The project {name!r} already exists. Use another name, such as {free!r}.")


def _require_free_folder(configuration: Configuration, folder: Path | None, except_for: str | None = None) -> None:
    for project in configuration.projects.values():
        if folder is not None and project.folder == folder and project.name != except_for:
            raise Conflict(f"The folder {folder} already belongs to the project {project.name!r}. Use another folder.")


# --- flags and modes ----------------------------------------------------------------------------------


def set_feature_flag(configuration: Configuration, name: str, value: FlagValue | None) -> Configuration:
    """Set a global flag; None removes it. No project is touched."""
    return replace(configuration, flags=model.set_flag(configuration.flags, name, value))


def set_project_flag(project: Project, name: str, value: FlagValue | None) -> Project:
    """Set a flag of a project; None removes it, so that the global one applies."""
    return replace(project, flags=model.set_flag(project.flags, name, value))


# --- checks -------------------------------------------------------------------------------------------


def _require_free_name(project: Project, name: str) -> None:
    _require_unused(project.categories, name, "category", project)
    _require_unused(project.collections, name, "collection", project)


def _require_unused(names: Mapping[str, object], name: str, kind: str, project: Project) -> None:
    if name in names:
        raise Conflict(
            f"The project {project.name!r} already has a {kind} {name!r}. Use another name: a category and a "
            "collection cannot have the same name."
        )


def _require_unreferenced(project: Project, name: str, kind: str) -> None:
    if collections := find_references(project, name):
        names, one = ", ".join(map(repr, collections)), len(collections) == 1
        refer = f"The collection {names} refers" if one else f"The collections {names} refer"
        raise Conflict(f"{refer} to the {kind} {name!r}. Change or remove {'it' if one else 'them'} first.")


def _without(entries: Mapping[str, T], name: str) -> dict[str, T]:
    return {key: value for key, value in entries.items() if key != name}


def _rename_key(entries: Mapping[str, T], old: str, new: str, value: T) -> dict[str, T]:
    """Rename a key and keep its position, so that the file keeps its order."""
    return {new if key == old else key: value if key == old else other for key, other in entries.items()}
