"""Projects, categories, collections, flags and modes: frozen records and their rules. No I/O.

    Configuration
    ├── flags                    global
    ├── export_folders           where export_content may write
    └── projects
        └── Project              document root, working folder, mode
            ├── categories       a folder of the document root and its default patterns
            ├── collections      named lists of expressions
            └── flags            override the global ones

configuration/changes.py changes them; configuration/references.py resolves the names in an expression.
"""

import difflib
import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from mcp_guide.content.expressions import parse_expression
from mcp_guide.content.patterns import compile_patterns, normalize, quote_text
from toolcharter import InvalidArguments, NotFound, instructions

FlagValue = bool | str | int | float | list[str]
Mode = Literal["DISCUSSION", "PLANNING", "IMPLEMENTATION", "CHECK"]

MODES: Final[tuple[Mode, ...]] = get_args(Mode)
DEFAULT_PROJECT: Final = "default"
"""The project that exists without any configuration."""
ROOT: Final = "."
"""The document root as the folder of a category, and the category of the documents directly in it."""
ALL_DOCUMENTS: Final = ("**/*",)
"""The default patterns of a category: all documents of its folder."""

MAX_NAME_LENGTH: Final = 100
MAX_PATH_LENGTH: Final = 1000
MAX_TEXT_LENGTH: Final = 10_000
MAX_ENTRIES: Final = 200
MAX_ALL_PATTERNS: Final = 50_000
"""Characters in all patterns of a configuration, after their braces are expanded."""

NO_DEFAULT: Final = f"{instructions.PRESENT_ERROR} Do not attempt to create a default configuration automatically."

NO_COLLECTION: Final = "No collection exists yet. Create one with add_collection."

# No `/`, `,`, `+` or braces: they have a meaning in expressions. No leading dot: hidden files stay hidden.
_SWITCH_WORDS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("true", "on", "yes"), True),
    **dict.fromkeys(("false", "off", "no"), False),
}
"""The text in quotes with which an agent switches a flag."""
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
"""The rights of an agent in each mode, in the standard vocabulary."""
ALLOW_CHANGES: Final[tuple[Mode | None, ...]] = (None, "IMPLEMENTATION")


def _empty() -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Category:
    """A folder of the document root, and the patterns that select its documents by default."""

    name: str
    dir: str
    patterns: tuple[str, ...] = ALL_DOCUMENTS
    description: str | None = None
    from_folder: bool = False
    """Whether the category comes from a folder and is not in the configuration file."""
    extra: Mapping[str, Any] = field(default_factory=_empty, hash=False)
    """Unknown fields of the configuration file, kept when it is written. The same below."""

    def path_of(self, relative: str) -> str:
        """The path, below the document root, of a path in the category."""
        return relative if self.dir == ROOT else f"{self.dir}/{relative}"

    def contains(self, path: str) -> bool:
        """Whether a path below the document root is below the folder of the category."""
        return self.dir == ROOT or path.startswith(f"{self.dir}/")

    def relative(self, path: str) -> str:
        """The path in the category of a path below the document root, which it must contain."""
        return path if self.dir == ROOT else path[len(self.dir) + 1 :]


@dataclass(frozen=True, slots=True)
class Collection:
    """A named list of expressions, which may name other collections."""

    name: str
    expressions: tuple[str, ...]
    description: str | None = None
    extra: Mapping[str, Any] = field(default_factory=_empty)


@dataclass(frozen=True, slots=True)
class Project:
    """The documents, flags and mode for one working folder."""

    name: str
    root: Path | None = None
    """The document root of its own; None means the shared one."""
    team_root: Path | None = None
    """The document root of its team, between the shared one and its own."""
    folder: Path | None = None
    """The working folder: the project is active there. Identified by path, not by name."""
    categories: Mapping[str, Category] = field(default_factory=_empty)
    collections: Mapping[str, Collection] = field(default_factory=_empty)
    flags: Mapping[str, FlagValue] = field(default_factory=_empty)
    mode: Mode | None = None
    """The mode of a new session; None if modes are off."""
    folders: bool = True
    """Whether each folder of the document root is a category too."""
    extra: Mapping[str, Any] = field(default_factory=_empty)
    documents: Path | None = field(default=None, compare=False)
    """The document root that is in use, for messages. It is not stored."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The contents of the configuration file."""

    projects: Mapping[str, Project] = field(default_factory=_empty)
    flags: Mapping[str, FlagValue] = field(default_factory=_empty)
    export_folders: tuple[Path, ...] = ()
    docs_root: Path | None = None
    extra: Mapping[str, Any] = field(default_factory=_empty)


# --- finding ------------------------------------------------------------------------------------------


def find_project(configuration: Configuration, name: str) -> Project:
    """The project with a name. Only the default project exists without being configured."""
    if name in configuration.projects:
        return configuration.projects[name]
    if name == DEFAULT_PROJECT:
        return Project(DEFAULT_PROJECT)
    raise NotFound(
        f"The project {_quote(name)} does not exist. {suggest_names(name, project_names(configuration))}",
        message=f"No configuration found for project: {name[:MAX_NAME_LENGTH]}",
        instruction=NO_DEFAULT,
    )


def project_names(configuration: Configuration) -> list[str]:
    """The names of all projects, including the default one."""
    return sorted({DEFAULT_PROJECT, *configuration.projects})


def find_category(project: Project, name: str) -> Category:
    """The category with a name."""
    if name in project.categories:
        return project.categories[name]
    raise _not_found("category", name, project, suggest_names(name, project.categories, no_category(project)))


def no_category(project: Project) -> str:
    """The sentence for a project without any category."""
    return f"No category exists yet. Create one with add_category, or run {init_command(project)}."


def no_document(project: Project) -> str:
    """The sentence for a project whose categories are empty."""
    ways = "Create one with create_document, add files to the folder of a category,"
    return f"No document exists yet. {ways} or run {init_command(project)}."


def init_command(project: Project) -> str:
    """The command that writes starter documents where this project reads them."""
    folder = f" --docs-root {shlex.quote(str(project.documents))}" if project.documents else ""
    return f"`mcp-guide init{folder}`"


def find_collection(project: Project, name: str) -> Collection:
    """The collection with a name."""
    if name in project.collections:
        return project.collections[name]
    raise _not_found("collection", name, project, suggest_names(name, project.collections, NO_COLLECTION))


def _not_found(kind: str, name: str, project: Project, suggestion: str) -> NotFound:
    return NotFound(f"The project {project.name!r} has no {kind} {_quote(name)}. {suggestion}")


def suggest_names(name: str, names: Iterable[str], if_empty: str = "") -> str:
    """A sentence with the names similar to an unknown one, or with all names if none is similar."""
    known = list(names)
    if not known:
        return if_empty
    similar = difflib.get_close_matches(name[:MAX_NAME_LENGTH], known, n=3, cutoff=0.5)
    if similar:
        return f"Did you mean {' or '.join(map(repr, similar))}?"
    return f"Available: {', '.join(map(repr, sorted(known)[:20]))}."


def document_roots(configuration: Configuration, project: Project, option: Path | None, default: Path) -> list[Path]:
    """The document roots of a project: that of all projects, of its team, and its own. The last one is written."""
    shared = option or configuration.docs_root or default
    return list(dict.fromkeys(filter(None, (shared, project.team_root, project.root))))


def with_folders(project: Project, folders: Iterable[str]) -> Project:
    """The project with a category for each folder of its document root, unless the name is taken.

    A folder whose name is not valid in an expression is left out. ROOT has the documents that are in no folder.
    """
    if not project.folders:
        return project
    taken = {*project.categories, *project.collections}
    named = {normalize(folder): folder for folder in folders}
    added = {
        name: Category(name, folder, from_folder=True)
        for name, folder in named.items()
        if name not in taken and is_name(name)
    }
    if ROOT in named:
        added[ROOT] = Category(ROOT, ROOT, ("*",), "The documents in no folder.", from_folder=True)
    return replace(project, categories={**added, **project.categories})


# --- flags --------------------------------------------------------------------------------------------


def resolve_flags(configuration: Configuration, project: Project) -> dict[str, FlagValue]:
    """All flags of a project: the global ones, overridden by its own."""
    return {**configuration.flags, **project.flags}


def set_flag(flags: Mapping[str, FlagValue], name: str, value: FlagValue | None) -> dict[str, FlagValue]:
    """The flags with one of them set; None removes it."""
    check_name(name, "flag")
    others = {key: other for key, other in flags.items() if key != name}
    return others if value is None else {**flags, name: check_flag(name, value)}


def check_flag(name: str, value: object) -> FlagValue:
    """Return the value if a flag can have it. Raises InvalidArguments."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, str) and len(value) <= MAX_TEXT_LENGTH:
        return _SWITCH_WORDS.get(value.strip().lower(), value)
    if isinstance(value, list) and all(isinstance(one, str) for one in cast(list[object], value)):
        return list(cast(list[str], value))
    raise InvalidArguments(
        f"The flag {name!r} cannot have the value {_quote(cast(object, value))}."
        " Use true, false, a number, a string or a list of strings.",
        fields=["value"],
    )


# --- modes --------------------------------------------------------------------------------------------


def check_mode(mode: object) -> Mode:
    """Return the mode if it is one of the four, in any case. Raises InvalidArguments."""
    name = mode.upper() if isinstance(mode, str) else mode
    if name in MODES:
        return name
    raise InvalidArguments(f"The mode {_quote(mode)} does not exist. Use one of {', '.join(MODES)}.", fields=["mode"])


def allows_more(mode: Mode | None, than: Mode | None) -> bool:
    """Whether a mode lets the agent do something that the other one does not. Without a mode, nothing is forbidden."""
    return mode in ALLOW_CHANGES and than not in ALLOW_CHANGES


# --- valid names, folders, patterns -------------------------------------------------------------------


def is_name(text: object) -> bool:
    """Whether a category, collection, project or flag can have this name."""
    return isinstance(text, str) and len(text) <= MAX_NAME_LENGTH and _NAME.fullmatch(text) is not None


def check_name(name: str, kind: str) -> str:
    """Return the name if it is valid. Raises InvalidArguments."""
    if is_name(name):
        return name
    raise InvalidArguments(
        f"The {kind} name {_quote(name)} is not valid. Use 1 to {MAX_NAME_LENGTH} letters, digits, '_', '-', '.'"
        " and single spaces, and begin with a letter, a digit or '_'.",
        fields=["name"],
    )


def check_dir(dir: str) -> str:
    """Return a folder below the document root without its last '/', if it is valid. Raises InvalidArguments."""
    if dir in (ROOT, f"{ROOT}/"):
        return ROOT
    parts = dir.removesuffix("/").split("/")
    rule = None
    if not dir or len(dir) > MAX_PATH_LENGTH:
        rule = f"of 1 to {MAX_PATH_LENGTH} characters"
    elif dir.startswith(("/", "~")) or _DRIVE.match(dir):
        rule = "relative to the document root"
    elif "\\" in dir or _CONTROL.search(dir):
        rule = "with '/', without backslashes and control characters"
    elif any(part in ("", ".", "..") for part in parts):
        rule = "without '.', '..' and empty parts"
    elif _HIDDEN.search(dir):
        rule = "without hidden parts"
    if rule is None:
        return "/".join(parts)
    raise InvalidArguments(f"The category folder {_quote(dir)} is not valid. Use a path {rule}.", fields=["dir"])


def check_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns if all are valid; the default ones if there are none. Raises InvalidArguments."""
    unique = _check_count(patterns, "patterns") or ALL_DOCUMENTS
    compile_patterns(unique)
    if hidden := next((pattern for pattern in unique if _HIDDEN.search(pattern)), None):
        raise InvalidArguments(
            f"The pattern {_quote(hidden)} is for hidden files, which are never shown. Remove it.", fields=["patterns"]
        )
    return unique


def check_all_patterns(configuration: Configuration) -> None:
    """Raise InvalidArguments if the patterns of all projects together would make every start slow."""
    projects = configuration.projects.values()
    different = {category.patterns for project in projects for category in project.categories.values()}
    check_pattern_length(sum(compile_patterns(patterns).length for patterns in different))


def check_pattern_length(length: int) -> None:
    """Raise InvalidArguments if patterns of this length, without their braces, would make every start slow."""
    if length > MAX_ALL_PATTERNS:
        raise InvalidArguments(
            f"The patterns of all categories have {length:,} characters without braces. Use at most "
            f"{MAX_ALL_PATTERNS:,}: write '*' instead of braces, or remove categories.",
            fields=["patterns"],
        )


def check_description(text: str | None) -> str | None:
    """Return the description if it is not too long; None if it is empty. Raises InvalidArguments."""
    if text is not None and len(text) > MAX_TEXT_LENGTH:
        raise InvalidArguments(
            f"The description has {len(text):,} characters. Use at most {MAX_TEXT_LENGTH:,}.", fields=["description"]
        )
    return text or None


def _check_count(values: Sequence[str], field: str) -> tuple[str, ...]:
    if len(values) > MAX_ENTRIES:
        raise InvalidArguments(f"{len(values)} {field} are too many. Use at most {MAX_ENTRIES}.", fields=[field])
    return tuple(dict.fromkeys(values))


def check_expressions(expressions: Sequence[str]) -> tuple[str, ...]:
    """Return the expressions if all can be parsed. configuration/changes.py checks whether their names exist."""
    if not expressions:
        raise InvalidArguments(
            "A collection needs at least one expression, such as 'lang/python'.", fields=["expressions"]
        )
    for expression in expressions:
        parse_expression(expression)
    return _check_count(expressions, "expressions")


def _quote(value: object) -> str:
    return quote_text(value) if isinstance(value, str) else repr(value)[:MAX_NAME_LENGTH]
