"""What the declarations share: arguments that mean the same everywhere, and the usual kinds of tools."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

MAX_PATH_LENGTH = 500
MAX_DOCUMENT_LENGTH = 1_000_000

ProjectName = Annotated[str | None, Field(description="Another project.")]
Cursor = Annotated[str | None, Field(description="From next_cursor.")]
Expression = Annotated[str, Field(description="Such as lang, lang/python+rust or lang/*.md,docs/api.")]
Pattern = Annotated[str | None, Field(description="Such as python or **/*.md.")]
Format = Annotated[Literal["plain", "mime", "json"], Field(description="Text, multipart or a list.")]
OneName = Annotated[str | None, Field(description="Only this one.")]
NewName = Annotated[str | None, Field(description="To rename it.")]
About = Annotated[str | None, Field(max_length=MAX_PATH_LENGTH, description="What it is for.")]

Stated = Field(description="The user's wish.")
"""Of the literal that states consent."""

READS: Mapping[str, Any] = {
    "category": "query",
    "response_time": "fast",
    "cacheable": False,
    "idempotent": True,
    "open_world": False,
}
"""Looks, and changes nothing. Not cached: a file may change at any moment."""

READS_DOCUMENTS: Mapping[str, Any] = {**READS, "response_time": "medium"}
"""The same, over files that may be many, or on a slow disk."""

ADDS: Mapping[str, Any] = {
    "category": "mutation",
    # Another process may be writing, and is waited for.
    "response_time": "medium",
    "cacheable": False,
    "idempotent": False,
    "open_world": False,
}
"""Makes something; the second time is refused."""

CHANGES: Mapping[str, Any] = {**ADDS, "idempotent": True}
"""Sets what is there; the second time changes nothing more."""

REMOVES: Mapping[str, Any] = {**CHANGES, "destructive": True}
"""Takes something away for good."""
