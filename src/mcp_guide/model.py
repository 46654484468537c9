"""Projects, their categories, collections, flags and modes: frozen records and the rules they obey. No I/O.

    Configuration
    ├── flags                    the global ones
    ├── export_folders           where export_content may write
    └── projects
        └── Project              its document root, its working folder, its mode
            ├── categories       a folder of the document root, and default patterns
            ├── collections      names for expressions
            └── flags            win over the global ones

What changes them is in configuration_changes.py; what a name in an expression stands for is in references.py.
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from mcp_core import InvalidArguments, NotFound, instructions
from mcp_guide.content.expressions import parse
from mcp_guide.content.patterns import compile_patterns, shown

FlagValue = bool | str | int | float | list[str]
Mode = Literal["DISCUSSION", "PLANNING", "IMPLEMENTATION", "CHECK"]

MODES: Final[tuple[Mode, ...]] = get_args(Mode)
FIRST_MODE: Final[Mode] = "DISCUSSION"
DEFAULT_PROJECT: Final = "default"
"""The project that is there without any configuration."""
EVERYTHING: Final = ("**/*",)
"""The default patterns of a category: the whole folder, so that its name alone gives all of it."""

LONGEST_NAME: Final = 100
LONGEST_PATH: Final = 1000
LONGEST_TEXT: Final = 10_000
MOST_ENTRIES: Final = 200

NO_DEFAULT: Final = f"{instructions.PRESENT_ERROR} Do not attempt to create a default configuration automatically."

# No `/`, `,`, `+` or braces: they have a meaning in expressions. No leading dot: hidden files stay hidden.
_NAME = re.compile(r"\w(?:[\w.-]| (?=[\w.-]))*")
_DRIVE = re.compile(r"[A-Za-z]:")
_HIDDEN = re.compile(r"(?:^|/)\.")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

BOUNDARIES: Final[Mapping[Mode, str]] = {
    "DISCUSSION": (
        f"{instructions.NOW_IN_DISCUSSION} Gather requirements and create specifications. {instructions.NO_CHANGES}"
    ),
    "PLANNING": (
        f"{instructions.NOW_IN_PLANNING} Create a detailed plan, and present it to the user. {instructions.NO_CHANGES}"
    ),
    "IMPLEMENTATION": (
        f"{instructions.NOW_IN_IMPLEMENTATION} Make the changes that the user agreed to, and no others."
        f" When they are made: {instructions.RETURN_TO_CHECK}"
    ),
    "CHECK": (
        f"{instructions.NOW_IN_CHECK} Run the checks, and report what they find."
        f" {instructions.NO_AUTOMATIC_FIX} {instructions.REQUIRE_REVIEW}"
    ),
}
"""What an agent may do in each mode, in the words of the standard vocabulary."""


def _nothing() -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Category:
    """A folder of the document root, and the patterns that its name alone stands for."""

    name: str
    dir: str
    patterns: tuple[str, ...] = EVERYTHING
    description: str | None = None
    from_folder: bool = False
    """It is there because the folder is, and not written in the configuration."""
    extra: Mapping[str, Any] = field(default_factory=_nothing, hash=False)
    """What the file says beyond what we know. Kept when it is written again; the same below."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A name for expressions, which may name other collections."""

    name: str
    expressions: tuple[str, ...]
    description: str | None = None
    extra: Mapping[str, Any] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Project:
    """What agents are given in one place of work."""

    name: str
    root: Path | None = None
    """Its document root; None is the one that all projects share."""
    folder: Path | None = None
    """Where its work is done: who works there means this project. Two folders of one name are two projects."""
    categories: Mapping[str, Category] = field(default_factory=_nothing)
    collections: Mapping[str, Collection] = field(default_factory=_nothing)
    flags: Mapping[str, FlagValue] = field(default_factory=_nothing)
    mode: Mode = FIRST_MODE
    folders: bool = True
    """Whether each folder of the document root is a category, besides those that were made."""
    extra: Mapping[str, Any] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Configuration:
    """All that is kept."""

    projects: Mapping[str, Project] = field(default_factory=_nothing)
    flags: Mapping[str, FlagValue] = field(default_factory=_nothing)
    export_folders: tuple[Path, ...] = ()
    docs_root: Path | None = None
    extra: Mapping[str, Any] = field(default_factory=_nothing)


# --- finding ------------------------------------------------------------------------------------------


def find_project(configuration: Configuration, name: str) -> Project:
    """The project of that name. The default one is there without being configured; no other is made by asking."""
    if name in configuration.projects:
        return configuration.projects[name]
    if name == DEFAULT_PROJECT:
        return Project(DEFAULT_PROJECT)
    raise NotFound(
        f"There is no project {_quote(name)}. {_nearest(name, project_names(configuration))}",
        message=f"No configuration found for project: {name[:LONGEST_NAME]}",
        instruction=NO_DEFAULT,
    )


def project_names(configuration: Configuration) -> list[str]:
    """All projects by name, the default one included."""
    return sorted({DEFAULT_PROJECT, *configuration.projects})


def find_category(project: Project, name: str) -> Category:
    """The category of that name."""
    if name in project.categories:
        return project.categories[name]
    raise _missing("category", name, project, project.categories)


def find_collection(project: Project, name: str) -> Collection:
    """The collection of that name."""
    if name in project.collections:
        return project.collections[name]
    raise _missing("collection", name, project, project.collections)


def _missing(kind: str, name: str, project: Project, names: Iterable[str]) -> NotFound:
    return NotFound(f"Project {project.name!r} has no {kind} {_quote(name)}. {_nearest(name, names)}")


def _nearest(name: str, names: Iterable[str]) -> str:
    known = list(names)
    if not known:
        return "There is none yet."
    near = difflib.get_close_matches(name[:LONGEST_NAME], known, n=5, cutoff=0.5)
    shown = ", ".join(repr(one) for one in near or sorted(known)[:20])
    return f"Nearest: {shown}." if near else f"There is: {shown}."


def nearest_names(name: str, names: Iterable[str]) -> str:
    """A sentence with the names nearest to one that is not there; all of them where none is near."""
    return _nearest(name, names)


def document_root(configuration: Configuration, project: Project, given: Path | None, otherwise: Path) -> Path:
    """Where a project's documents are: its own root, else the one given at start, else the configured one."""
    return project.root or given or configuration.docs_root or otherwise


def with_folders(project: Project, folders: Iterable[str]) -> Project:
    """The project with a category for each folder of its document root, where it has none of that name.

    A folder whose name cannot stand in an expression is left out.
    """
    if not project.folders:
        return project
    taken = {*project.categories, *project.collections}
    found = {name: Category(name, name, from_folder=True) for name in folders if name not in taken and is_name(name)}
    return replace(project, categories={**found, **project.categories})


# --- flags --------------------------------------------------------------------------------------------


def resolve_flags(configuration: Configuration, project: Project) -> dict[str, FlagValue]:
    """All flags as they hold in a project: its own over the global ones."""
    return {**configuration.flags, **project.flags}


def resolve_flag(configuration: Configuration, project: Project, name: str) -> FlagValue | None:
    """One flag as it holds in a project; None where it is set nowhere."""
    return project.flags.get(check_name(name, "flag"), configuration.flags.get(name))


def set_flag(flags: Mapping[str, FlagValue], name: str, value: FlagValue | None) -> dict[str, FlagValue]:
    """The flags with one of them set; None removes it."""
    check_name(name, "flag")
    others = {key: kept for key, kept in flags.items() if key != name}
    return others if value is None else {**flags, name: check_flag(name, value)}


def check_flag(name: str, value: object) -> FlagValue:
    """A value that a flag can have."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, str) and len(value) <= LONGEST_TEXT:
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in cast(list[object], value)):
        return list(cast(list[str], value))
    raise InvalidArguments(
        f"The flag {name!r} cannot be {_quote(cast(object, value))};"
        " give true, false, a number, a text or a list of texts.",
        fields=["value"],
    )


# --- modes --------------------------------------------------------------------------------------------


def check_mode(mode: object) -> Mode:
    """One of the four modes, in capitals."""
    if mode in MODES:
        return mode
    raise InvalidArguments(f"There is no mode {_quote(mode)}; choose one of {', '.join(MODES)}.", fields=["mode"])


def boundary(mode: Mode) -> str:
    """What the agent may do in a mode."""
    return BOUNDARIES[mode]


# --- what a name, a folder, a pattern may be ----------------------------------------------------------


def is_name(text: object) -> bool:
    """Whether a category, a collection, a project or a flag may be called this."""
    return isinstance(text, str) and len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def check_name(name: str, kind: str) -> str:
    """The name, when it may be one."""
    if is_name(name):
        return name
    raise InvalidArguments(
        f"A {kind} cannot be named {_quote(name)}: a name has 1 to {LONGEST_NAME} letters, digits, '_', '-', '.'"
        " and single spaces, and begins with a letter, a digit or '_'.",
        fields=["name"],
    )


def check_dir(dir: str) -> str:
    """A folder below the document root, written with '/' and without one at its end."""
    parts = dir.removesuffix("/").split("/")
    reason = None
    if not dir or len(dir) > LONGEST_PATH:
        reason = f"has 1 to {LONGEST_PATH} characters"
    elif dir.startswith(("/", "~")) or _DRIVE.match(dir):
        reason = "is relative to the document root"
    elif "\\" in dir or _CONTROL.search(dir):
        reason = "is written with '/', without backslashes and control characters"
    elif any(part in ("", ".", "..") for part in parts):
        reason = "has no '.', '..' or empty parts, and does not leave the document root"
    elif _HIDDEN.search(dir):
        reason = "is not hidden"
    if reason is None:
        return "/".join(parts)
    raise InvalidArguments(f"{_quote(dir)} cannot be the folder of a category: it {reason}.", fields=["dir"])


def check_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    """Patterns that stay below their folder; none are the default."""
    chosen = _few(patterns, "patterns") or EVERYTHING
    compile_patterns(chosen)
    if hidden := next((one for one in chosen if _HIDDEN.search(one)), None):
        raise InvalidArguments(f"The pattern {_quote(hidden)} names something hidden.", fields=["patterns"])
    return chosen


def check_description(text: str | None) -> str | None:
    """A description of a length that lists can show; an empty one is none."""
    if text is not None and len(text) > LONGEST_TEXT:
        raise InvalidArguments(f"A description has at most {LONGEST_TEXT} characters.", fields=["description"])
    return text or None


def _few(values: Sequence[str], field: str) -> tuple[str, ...]:
    if len(values) > MOST_ENTRIES:
        raise InvalidArguments(f"{len(values)} {field} are too many; give at most {MOST_ENTRIES}.", fields=[field])
    return tuple(dict.fromkeys(values))


def check_expressions(expressions: Sequence[str]) -> tuple[str, ...]:
    """What a collection names; whether it is there is looked at in configuration_changes.py."""
    if not expressions:
        raise InvalidArguments(
            "A collection names at least one expression, such as 'lang/python'.", fields=["expressions"]
        )
    for expression in expressions:
        parse(expression)
    return _few(expressions, "expressions")


def _quote(value: object) -> str:
    return shown(value) if isinstance(value, str) else repr(value)[:LONGEST_NAME]
