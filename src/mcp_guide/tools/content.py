"""Read documents by expression, search them by words, list them.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, ClassVar

from pydantic import Field

from mcp_guide.content import formats, listing, reading, searching
from mcp_guide.guide import Guide, GuideResult
from mcp_guide.tools import presets
from mcp_guide.tools.fields import Cursor, Documents, Expression, Format, GuessedArguments, Pattern, ProjectName
from toolcharter import Example, ToolContext

PYTHON = {
    "content": "# Python\n\nUse type hints. Format with ruff.\n",
    "documents": ["lang/python.md"],
}


EXPRESSION_GUESSES: Mapping[str, str] = dict.fromkeys(
    ("path", "document", "documents", "uri", "url", "file", "name", "title", "category", "collection"), "expression"
)
SEVERAL_BLOCKS = frozenset({"claude-code", "claude-ai", "Visual Studio Code", "goose"})
"""Clients that show a model every content block of an answer as it is."""


class GetContentArgs(GuessedArguments):
    """The documents to read, and their format."""

    guesses: ClassVar[Mapping[str, str]] = {
        **EXPRESSION_GUESSES,
        "sections": "section",
        "heading": "section",
        "question": "query",
    }

    expression: Expression
    pattern: Pattern = None
    section: Annotated[
        str | list[str] | None, Field(description="Heading or id of the sections to read, such as naming.")
    ] = None
    query: Annotated[
        str | None, Field(max_length=500, description="Question: of one document, only the sections about it.")
    ] = None
    format: Format = None
    budget: Annotated[
        int, Field(ge=reading.MIN_BUDGET, le=reading.MAX_BUDGET, description="Maximum tokens of the answer.")
    ] = reading.DEFAULT_BUDGET
    cursor: Cursor = None
    project: ProjectName = None

    @classmethod
    def complete(cls, given: dict[str, Any]) -> dict[str, Any]:
        """A category beside a document becomes its beginning."""
        category = given.get("category")
        if isinstance(category, str) and isinstance(given.get("expression"), str):
            return {**_without(given, "category"), "expression": f"{category}/{given['expression']}"}
        return given


def _without(given: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key != name}


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
    """Read guidelines, documents or sections of them.

    Use it before you write code or text, to know the team's rules, or to open or load a document or section.
    It takes every path that search_content and list_documents return.

    An expression is a category or collection, with optional patterns after a slash.
    `+` separates patterns, `,` separates specifications. The documents come in this order, each once.
    `#` names a section, by its id or heading, with the sections inside it.
    A long document comes as its outline with the best parts; with a cursor, all of it comes page by page.
    The instruction of the result says what the documents require of you.

    Returns:
        The text, and next_cursor if there is more.

    Usage:
        get_content(expression="lang")                       # the documents of a category
        get_content(expression="lang/python+rust")           # two documents of a category
        get_content(expression="lang/python,docs/api")       # several, in this order
        get_content(expression="docs", pattern="**/*.md")    # with a separate pattern
        get_content(expression="lang/python#naming")         # a section
        get_content(expression="docs/api", query="how are errors returned?")
    """
    return await guide.run(
        args.project,
        context,
        reading.get_content,
        args.expression,
        args.pattern,
        args.format or default_format(context),
        sections=[args.section] if isinstance(args.section, str) else args.section or (),
        query=args.query,
        cursor=args.cursor,
        budget=args.budget,
    )


def default_format(context: ToolContext) -> formats.Format:
    """Text in a block of its own costs fewer tokens than in JSON, but not every client shows all blocks."""
    return "markdown" if context.agent_id in SEVERAL_BLOCKS else "plain"


class GetOutlineArgs(GuessedArguments):
    """The documents whose sections are listed."""

    guesses: ClassVar[Mapping[str, str]] = EXPRESSION_GUESSES

    expression: Documents
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads_documents(
    examples=[
        Example(
            "The sections of a document",
            {"expression": "docs/api"},
            {
                "documents": [
                    {
                        "path": "docs/api.md",
                        "title": "API",
                        "version": "<text>",
                        "tokens": "<number>",
                        "sections": ["#api (14)"],
                    }
                ]
            },
        )
    ],
)
async def get_outline(args: GetOutlineArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Show the table of contents of a document.

    Use it to see the sections of a long document before you read or change it.

    Each section has its id, its heading and the tokens of its own text. The front matter comes with it.

    Returns:
        The sections, and the version that an edit can name.

    Usage:
        get_outline(expression="docs/api")
    """
    return await guide.run(args.project, context, reading.get_outline, args.expression)


class SearchContentArgs(GuessedArguments):
    """The words to find."""

    guesses: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("q", "text", "words", "search", "question", "keywords", "pattern"), "query"),
        **dict.fromkeys(("max_results", "top_k", "count", "n"), "limit"),
    }

    query: Annotated[str, Field(max_length=500, description='Words or a question; "a phrase" exactly, -word excludes.')]
    limit: Annotated[int, Field(ge=1, le=50, description="Maximum number of hits.")] = 4
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

    Words are found in all their forms, and a rare word counts more. Each document is one hit, with its best section;
    `also` names the next ones. A short best section comes whole. Every path can be passed to get_content.

    Returns:
        Path, heading and text of each hit.

    Usage:
        search_content(query="error handling")
        search_content(query="retry", limit=3)
    """
    search = partial(searching.search_documents, query=args.query, limit=args.limit, cursor=args.cursor)
    return await guide.search(args.project, context, search)


class GetRulesArgs(GuessedArguments):
    """The file that is being edited."""

    guesses: ClassVar[Mapping[str, str]] = dict.fromkeys(("file", "filename", "file_path", "expression"), "path")

    path: Annotated[
        str, Field(max_length=1_000, description="File in the project, such as db/migrations/0007.sql; need not exist.")
    ]
    budget: Annotated[
        int, Field(ge=reading.MIN_BUDGET, le=reading.MAX_BUDGET, description="Maximum tokens of the rules.")
    ] = reading.DEFAULT_BUDGET
    project: ProjectName = None


# Documented as src/mcp_guide/tools/README.md shows.
@presets.reads_documents(
    examples=[
        Example(
            "The rules for a migration",
            {"path": "db/0007.sql"},
            {
                "content": "===== checks/sql.md =====\nMigrations can be undone.",
                "rules": [{"path": "checks/sql.md", "applies": "*.sql"}],
            },
        )
    ],
)
async def get_rules(args: GetRulesArgs, guide: Guide, context: ToolContext) -> GuideResult:
    """Get the rules for a file that you edit.

    Use it before you create or change a file, to know the rules that apply to its path.

    They come from documents with `globs` in their front matter, and from the rule files in the folder of the project:
    AGENTS.md, CLAUDE.md, Cursor rules and Copilot instructions, nested ones too. The nearest rules come last, and win.

    Returns:
        The text of the rules, the nearest last.

    Usage:
        get_rules(path="db/migrations/0007.sql")
    """
    from mcp_guide.content.rules import get_rules as find  # noqa: PLC0415 - 2 ms that no list of tools needs

    return await guide.run(args.project, context, find, args.path, args.budget)


class ListDocumentsArgs(GuessedArguments):
    """Which documents to list."""

    guesses: ClassVar[Mapping[str, str]] = {**EXPRESSION_GUESSES, "pattern": "expression", "folder": "expression"}

    expression: Annotated[
        str | None, Field(description="Only these: a category, or a pattern such as docs/**/*.md.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=200, description="Maximum number of documents.")] = 50
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
                        "tokens": "<number>",
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
    return await guide.run(args.project, context, listing.list_documents, args.expression, args.limit, args.cursor)
