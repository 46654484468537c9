"""The prompt `guide`: adds documents to the conversation by name.

How a prompt is documented: src/mcp_guide/prompts/README.md
"""

from typing import Annotated

from mcp_guide.guide import Guide, GuideResult, ProjectView
from mcp_guide.model import NO_COLLECTION, no_category
from mcp_guide.tools.content import GetContentArgs, get_content
from toolcharter import Result, ToolContext, prompt
from toolcharter.prompts import Argument

HELP = """\
Add documents to this conversation: @guide EXPRESSION [EXPRESSION ...]

  @guide lang                     the documents of a category
  @guide lang/python docs/api     documents, in this order
  @guide lang/python+rust         several documents of one category
  @guide docs/**/*.md             documents by pattern

Project: {project}
Categories: {categories}
Collections: {collections}
"""


async def expressions(guide: Guide, context: ToolContext) -> list[str]:
    """The categories and collections of the project."""
    project = (await guide.for_prompt().load_view(None, context)).project
    return [*project.categories, *project.collections]


Word = Annotated[
    str, Argument("A category, collection or document, such as lang/python or docs/**/*.md.", complete=expressions)
]


# Documented as src/mcp_guide/prompts/README.md shows. The protocol has no list arguments, so there are 15 single ones.
@prompt(title="Guide", permissions=["documents:read"])
async def guide(
    guide: Guide,
    context: ToolContext,
    *,
    arg1: Word = "",
    arg2: Word = "",
    arg3: Word = "",
    arg4: Word = "",
    arg5: Word = "",
    arg6: Word = "",
    arg7: Word = "",
    arg8: Word = "",
    arg9: Word = "",
    arga: Word = "",
    argb: Word = "",
    argc: Word = "",
    argd: Word = "",
    arge: Word = "",
    argf: Word = "",
) -> Result[str]:
    """Add guidelines and documents to the chat.

    Use it when you know the names of the documents that the agent should read.

    ## Conceptual Schema

    `*args`: expressions, one per word: a category or collection, with optional patterns after a slash.
    The documents come in this order, each once. Without words, it shows help with all names.

    ## Usage Instructions

    ```
    @guide
    @guide EXPRESSION [EXPRESSION ...]
    ```

    ## Concrete Examples

    ```
    @guide                         # help, with all categories and collections
    @guide lang/python docs/api    # the Python guideline, then the API document
    @guide backend                 # everything in the collection backend
    @guide lang/python+rust        # two documents of one category
    ```
    """
    arguments = (arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9, arga, argb, argc, argd, arge, argf)
    words = [word.strip() for word in arguments if word.strip()]
    guide = guide.for_prompt()
    if not words:
        return _text_result(await guide.run(None, context, _help), "text")
    return _text_result(await get_content(GetContentArgs(expression=",".join(words)), guide, context), "content")


def _text_result(result: GuideResult, field: str) -> Result[str]:
    """One field of a result as text, followed by what was left out."""
    value = result.value or {}
    text = str(value[field])
    notes = [f"{document['path']} was left out. {document['reason']}" for document in value.get("left_out", ())]
    if "remaining" in value:
        notes.append(f"{value['remaining']} more documents remain; get_content reads them with a cursor.")
    return Result[str].ok("\n\n".join([text, *notes]), result.message, result.instruction)


def _help(view: ProjectView) -> GuideResult:
    project = view.project
    text = HELP.format(
        project=project.name,
        categories=", ".join(project.categories) or no_category(project),
        collections=", ".join(project.collections) or NO_COLLECTION,
    )
    return GuideResult.ok({"text": text}, "How to use @guide.")
