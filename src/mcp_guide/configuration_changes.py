"""Changes of the configuration: each takes a record, returns a changed copy, or raises. No I/O.

A category that collections name is not removed; when it, or a collection, is renamed, they follow.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from mcp_core import Conflict
from mcp_guide import model
from mcp_guide.model import Category, Collection, Configuration, FlagValue, Project
from mcp_guide.references import named_by, renamed, resolve

T = TypeVar("T")

# --- categories ---------------------------------------------------------------------------------------


def add_category(
    project: Project,
    name: str,
    dir: str | None = None,
    patterns: Sequence[str] = (),
    description: str | None = None,
) -> Project:
    """A new category; its folder has its name where none is given. It takes the place of a folder's own category."""
    taken = project.categories.get(name)
    if taken is not None and not taken.from_folder:
        raise Conflict(f"Project {project.name!r} has a category {name!r} already; change it instead.")
    _refuse_taken(project.collections, name, "collection", project)
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
    """Change what is given. An empty description, or no patterns, removes them."""
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
        raise Conflict(f"{name!r} is the name of a folder; add a category {new_name!r} with dir {name!r} instead.")
    _refuse_any_taken(project, new_name)
    final = replace(changed, name=model.check_name(new_name, "category"))
    categories = _renamed_key(project.categories, name, new_name, final)
    return _follow(replace(project, categories=categories), name, new_name)


def remove_category(project: Project, name: str) -> Project:
    """Forget a category; its documents stay."""
    category = model.find_category(project, name)
    if category.from_folder:
        raise Conflict(f"{name!r} is a category because the folder is there; it goes when the folder goes.")
    _refuse_named(project, name, "category")
    return replace(project, categories=_without(project.categories, name))


def _with_category(project: Project, category: Category) -> Project:
    return replace(project, categories={**project.categories, category.name: category})


# --- collections --------------------------------------------------------------------------------------


def add_collection(project: Project, name: str, expressions: Sequence[str], description: str | None = None) -> Project:
    """A new collection. All that it names must be there, and not lead back to it."""
    _refuse_any_taken(project, name)
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
    """Change what is given. An empty description removes it."""
    collection = model.find_collection(project, name)
    changed = replace(
        collection,
        expressions=collection.expressions if expressions is None else model.check_expressions(expressions),
        description=collection.description if description is None else model.check_description(description),
    )
    if new_name is None or new_name == name:
        return _with_collection(project, changed)
    _refuse_any_taken(project, new_name)
    final = replace(changed, name=model.check_name(new_name, "collection"))
    collections = _renamed_key(project.collections, name, new_name, final)
    followed = _follow(replace(project, collections=collections), name, new_name)
    return _with_collection(followed, followed.collections[new_name])


def remove_collection(project: Project, name: str) -> Project:
    """Forget a collection; what it names stays."""
    model.find_collection(project, name)
    _refuse_named(project, name, "collection")
    return replace(project, collections=_without(project.collections, name))


def _with_collection(project: Project, collection: Collection) -> Project:
    after = replace(project, collections={**project.collections, collection.name: collection})
    resolve(after, collection.name)
    return after


def _follow(project: Project, old: str, new: str) -> Project:
    """Let the collections that name something follow its new name; the others keep their words."""
    named = named_by(project, old)
    collections = {
        name: replace(one, expressions=tuple(renamed(text, old, new) for text in one.expressions))
        if name in named
        else one
        for name, one in project.collections.items()
    }
    return replace(project, collections=collections)


# --- projects -----------------------------------------------------------------------------------------


def change_project(configuration: Configuration, name: str, change: Callable[[Project], Project]) -> Configuration:
    """The configuration with one of its projects changed; the default one is written down by that."""
    return with_project(configuration, change(model.find_project(configuration, name)))


def with_project(configuration: Configuration, project: Project) -> Configuration:
    """The configuration with this project in the place of the one of its name."""
    return replace(configuration, projects={**configuration.projects, project.name: project})


def add_project(
    configuration: Configuration, name: str, *, root: Path | None = None, folder: Path | None = None
) -> Configuration:
    """A new project."""
    _refuse_existing(configuration, name)
    _refuse_owned(configuration, folder)
    return with_project(configuration, Project(model.check_name(name, "project"), root=root, folder=folder))


def clone_project(configuration: Configuration, source: str, name: str, *, folder: Path | None = None) -> Configuration:
    """A new project with the categories, collections, flags and document root of another; it begins in discussion."""
    _refuse_existing(configuration, name)
    _refuse_owned(configuration, folder)
    copy = replace(
        model.find_project(configuration, source),
        name=model.check_name(name, "project"),
        folder=folder,
        mode=model.FIRST_MODE,
    )
    return with_project(configuration, copy)


def rename_project(configuration: Configuration, name: str, new_name: str) -> Configuration:
    """The same project under another name."""
    project = model.find_project(configuration, name)
    if name == model.DEFAULT_PROJECT:
        raise Conflict("The default project keeps its name; clone it under another one.")
    _refuse_existing(configuration, new_name)
    final = replace(project, name=model.check_name(new_name, "project"))
    return replace(configuration, projects=_renamed_key(configuration.projects, name, new_name, final))


def remove_project(configuration: Configuration, name: str) -> Configuration:
    """Forget a project; its documents stay. The default one is as it was at the beginning then."""
    model.find_project(configuration, name)
    return replace(configuration, projects=_without(configuration.projects, name))


def free_name(configuration: Configuration, wanted: str) -> str:
    """The wanted name of a new project, with a number where it is taken: two folders of one name are two projects."""
    taken = set(model.project_names(configuration))
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name


def _refuse_existing(configuration: Configuration, name: str) -> None:
    if name in model.project_names(configuration):
        free = free_name(configuration, name)
        raise Conflict(f"There is a project {name!r} already; choose another name, such as {free!r}.")


def _refuse_owned(configuration: Configuration, folder: Path | None) -> None:
    owner = next((one for one in configuration.projects.values() if folder is not None and one.folder == folder), None)
    if owner is not None:
        raise Conflict(f"The folder {folder} belongs to project {owner.name!r} already.")


# --- flags and modes ----------------------------------------------------------------------------------


def set_feature_flag(configuration: Configuration, name: str, value: FlagValue | None) -> Configuration:
    """Set a global flag; None removes it. No project is touched."""
    return replace(configuration, flags=model.set_flag(configuration.flags, name, value))


def set_project_flag(configuration: Configuration, project: str, name: str, value: FlagValue | None) -> Configuration:
    """Set a flag of one project; None removes it, and the global one holds again."""
    return change_project(
        configuration, project, lambda one: replace(one, flags=model.set_flag(one.flags, name, value))
    )


def set_mode(configuration: Configuration, project: str, mode: str) -> Configuration:
    """Put a project into a mode."""
    checked = model.check_mode(mode)
    return change_project(configuration, project, lambda one: replace(one, mode=checked))


# --- what is refused ----------------------------------------------------------------------------------


def _refuse_any_taken(project: Project, name: str) -> None:
    _refuse_taken(project.categories, name, "category", project)
    _refuse_taken(project.collections, name, "collection", project)


def _refuse_taken(names: Mapping[str, object], name: str, kind: str, project: Project) -> None:
    if name in names:
        raise Conflict(
            f"Project {project.name!r} has a {kind} {name!r} already; categories and collections share their names."
        )


def _refuse_named(project: Project, name: str, kind: str) -> None:
    if users := named_by(project, name):
        names = ", ".join(repr(one) for one in users)
        raise Conflict(f"The {kind} {name!r} is named by the collections {names}; change or remove them first.")


def _without(entries: Mapping[str, T], name: str) -> dict[str, T]:
    return {key: value for key, value in entries.items() if key != name}


def _renamed_key(entries: Mapping[str, T], old: str, new: str, value: T) -> dict[str, T]:
    """In its old place, so that the file keeps its order."""
    return {new if key == old else key: value if key == old else kept for key, kept in entries.items()}
