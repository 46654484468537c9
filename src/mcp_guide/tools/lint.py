"""Check documents for mistakes.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, ClassVar

from pydantic import Field

from mcp_guide.guide import Guide, GuideResult
from mcp_guide.tools import presets
from mcp_guide.tools.content import EXPRESSION_GUESSES
from mcp_guide.tools.fields import GuessedArguments, ProjectName
from toolcharter import Example, ToolContext


class CheckDocumentsArgs(GuessedArguments):
    """Which documents to check."""

    guesses: ClassVar[Mapping[str, str]] = EXPRESSION_GUESSES

    expression: Annotated[str | None, Field(description="Only these documents, such as lang; all without it.")] = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads_documents(
    tags=["documents"],
    examples=[
        Example("Check one category", {"expression": "lang"}, {"findings": [], "total": 0, "documents": 2}),
    ],
)
async def check_documents(args: CheckDocumentsArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Lint the documents: find mistakes in them.

    Use it to find dead links, stale dates, and rules that repeat or contradict each other.

    Returns:
        Path, line and problem of each finding.

    Usage:
        check_documents()
        check_documents(expression="lang")
    """
    from mcp_guide.content import lint  # noqa: PLC0415 - 2 ms that no list of tools needs

    today = datetime.now(UTC).date()
    return await guide.run(args.project, context, lint.check_documents, args.expression, today)
