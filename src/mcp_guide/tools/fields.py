"""Argument fields and models that several tools share."""

from typing import Annotated, Literal

from pydantic import Field

from toolcharter import ToolArguments

ProjectName = Annotated[str | None, Field(description="Another project.")]
Cursor = Annotated[str | None, Field(description="From next_cursor.")]
Expression = Annotated[str, Field(description="Such as lang, lang/python+rust or lang/*.md,docs/api.")]
Pattern = Annotated[str | None, Field(description="Such as python or **/*.md.")]
Format = Annotated[Literal["plain", "mime", "json"], Field(description="Text, multipart or a list.")]
NewName = Annotated[str | None, Field(description="To rename it.")]
NamePart = Annotated[str | None, Field(description="Part of the name.")]
Description = Annotated[str | None, Field(max_length=500, description="What it is for.")]

CONFIRMED = Field(description="The user's request.")
"""For the literal that states consent."""


class ListArgs(ToolArguments):
    """Which categories or collections to list."""

    name: Annotated[str | None, Field(description="Only this one.")] = None
    project: ProjectName = None
