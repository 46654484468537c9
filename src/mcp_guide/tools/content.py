"""Read documents by expression, search them by words, list them.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from functools import partial
from typing import Annotated

from pydantic import Field

from mcp_guide.content import retrieval
from mcp_guide.guide import Guide, GuideResult
from mcp_guide.tools import presets
from mcp_guide.tools.fields import Cursor, Expression, Format, Pattern, ProjectName
from toolcharter import Example, ToolArguments, ToolContext

PYTHON = {
    "content": "# Python\n\nUse type hints. Format with ruff.\n",
    "documents": ["lang/python.md"],
}


class GetContentArgs(ToolArguments):
    """The documents to read, and their format."""

    expression: Expression
    pattern: Pattern = None
    format: Format = "plain"
    budget: Annotated[int, Field(ge=1_000, le=1_000_000, description="Maximum tokens.")] = retrieval.DEFAULT_BUDGET
    cursor: Cursor = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads_documents(
    examples=[
        Example("Read the guideline for one language", {"expression": "lang/python"}, PYTHON),
        Example("The same with a separate pattern", {"expression": "lang", "pattern": "python"}, PYTHON),
        Example(
            "Read a collection as a list",
            {"expression": "backend", "format": "json"},
            {
                "content": [
                    {
                        "path": "lang/python.md",
                        "title": "Python",
                        "description": "How we write Python.",
                        "type": "agent",
                        "instruction": "Run ruff before you show code.",
                        "text": PYTHON["content"],
                        "is_text": True,
                        "size": "<number>",
                    },
                    {
                        "path": "docs/api.md",
                        "title": "API",
                        "text": "# API\n\nEvery URL begins with /v1.\n",
                        "is_text": True,
                        "size": "<number>",
                    },
                ],
                "documents": ["lang/python.md", "docs/api.md"],
            },
        ),
    ],
)
async def get_content(args: GetContentArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Read guidelines and documents.

    Use it before you write code or text, to know the team's rules, or to open or load a document.

    An expression is a category or collection, with optional patterns after a slash.
    `+` separates patterns, `,` separates specifications. The documents come in this order, each once.
    The instruction of the result says what the documents require of you.

    Returns:
        The text, and next_cursor if there is more.

    Usage:
        get_content(expression="lang")                       # the documents of a category
        get_content(expression="lang/python+rust")           # two documents of a category
        get_content(expression="lang/python,docs/api")       # several, in this order
        get_content(expression="docs", pattern="**/*.md")    # with a separate pattern
    """
    return await guide.run(
        args.project,
        context,
        retrieval.get_content,
        args.expression,
        args.pattern,
        args.format,
        cursor=args.cursor,
        budget=args.budget,
    )


class SearchContentArgs(ToolArguments):
    """The words to find."""

    query: Annotated[str, Field(max_length=500, description="Words to find.")]
    limit: Annotated[int, Field(ge=1, le=50, description="Maximum number.")] = 10
    cursor: Cursor = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads_documents(
    examples=[
        Example(
            "Find documents about formatting",
            {"query": "ruff format"},
            {
                "hits": [{"path": "lang/python.md", "title": "Python", "snippet": "<text>", "score": "<number>"}],
                "total": 1,
            },
        )
    ],
)
async def search_content(args: SearchContentArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Search the text of all documents for words.

    Use it to look for what the docs say about something.

    The search covers the categories of the project and ranks the hits by relevance.

    Returns:
        Path, title and snippet of each hit.

    Usage:
        search_content(query="error handling")
        search_content(query="retry", limit=3)
    """
    search = partial(retrieval.search_documents, query=args.query, limit=args.limit, cursor=args.cursor)
    return await guide.search(args.project, context, search)


class ListDocumentsArgs(ToolArguments):
    """Which documents to list."""

    expression: Annotated[str | None, Field(description="Such as lang or docs/**/*.md.")] = None
    limit: Annotated[int, Field(ge=1, le=200, description="Maximum number.")] = 50
    cursor: Cursor = None
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads_documents(
    examples=[
        Example(
            "List the documents about Python",
            {"expression": "lang/python"},
            {
                "documents": [
                    {
                        "path": "lang/python.md",
                        "title": "Python",
                        "description": "How we write Python.",
                        "type": "agent",
                        "size": "<number>",
                        "modified": "<time>",
                    }
                ],
                "total": 1,
            },
        )
    ],
)
async def list_documents(args: ListDocumentsArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """List documents by name and title, not their text.

    Use it to see which documents or files exist, or are in a category or folder.

    Returns:
        Path, title and description of each.

    Usage:
        list_documents()
        list_documents(expression="lang", limit=20)
    """
    return await guide.run(args.project, context, retrieval.list_documents, args.expression, args.limit, args.cursor)
