"""Argument fields and models that several tools share."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import Field, model_validator

from toolcharter import ToolArguments

ProjectName = Annotated[str | None, Field(description="Another project; default: the active one.")]
Cursor = Annotated[str | None, Field(description="next_cursor of the previous answer.")]
Expression = Annotated[
    str,
    Field(
        description="What to read: a path or hit such as lang/python or lang/python#naming, a category, a collection, "
        "a title, a pattern such as docs/**/*.md; + joins patterns, a comma joins expressions."
    ),
]
Documents = Annotated[
    str, Field(description="Documents, such as lang/python; a path, category, collection, title or pattern.")
]
Pattern = Annotated[str | None, Field(description="Pattern below a category, such as python or **/*.md.")]
Format = Annotated[
    Literal["plain", "markdown", "mime", "json"] | None,
    Field(description="plain text in the JSON, markdown in a block of its own, mime multipart, or a json list."),
]
NewName = Annotated[str | None, Field(description="New name, to rename it.")]
NamePart = Annotated[str | None, Field(description="Only names with this text.")]
Description = Annotated[str | None, Field(max_length=500, description="What it is for, one sentence.")]
Explicit = "States that the user asked for this."
CONFIRMED = Field(description=Explicit)
"""For the literal that states consent."""


class GuessedArguments(ToolArguments):
    """Arguments that are also understood by the names that a model is likely to guess first."""

    guesses: ClassVar[Mapping[str, str]] = {}
    """The names of arguments by such a guess. A guess counts only where the argument itself is missing."""

    @model_validator(mode="before")
    @classmethod
    def _rename_guesses(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        renamed = dict(cast(dict[str, Any], given))
        for guess, name in cls.guesses.items():
            if guess in renamed and name not in renamed:
                renamed[name] = renamed.pop(guess)
        return cls.complete(renamed)

    @classmethod
    def complete(cls, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments with what follows from others, before they are validated."""
        return given


class ListArgs(ToolArguments):
    """Which categories or collections to list."""

    name: Annotated[str | None, Field(description="Only the one of this name.")] = None
    project: ProjectName = None
