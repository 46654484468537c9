"""The prompt `guide`: documents by their names, typed by a person.

How a prompt is documented: src/mcp_guide/prompts/README.md
"""

from mcp_core import Need, Result, ToolContext, prompt
from mcp_guide.guide import Answer, Guide, View
from mcp_guide.tools.content import GetContentArgs, get_content

HELP = """\
Documents for this conversation: @guide EXPRESSION [EXPRESSION ...]

  @guide lang                     what a category shows
  @guide lang/python docs/api     documents, in this order
  @guide lang/python+rust         several documents of one category
  @guide docs/**/*.md             documents by pattern

Project: {project}, in {mode} mode
Categories: {categories}
Collections: {collections}
"""


# Documented as src/mcp_guide/prompts/README.md shows. The protocol has no list of words, so there are fifteen of them.
@prompt(title="Guide", permissions=["documents:read"])
async def guide(
    guide: Need[Guide],
    context: ToolContext,
    *,
    arg1: str = "",
    arg2: str = "",
    arg3: str = "",
    arg4: str = "",
    arg5: str = "",
    arg6: str = "",
    arg7: str = "",
    arg8: str = "",
    arg9: str = "",
    arga: str = "",
    argb: str = "",
    argc: str = "",
    argd: str = "",
    arge: str = "",
    argf: str = "",
) -> Result[str]:
    """Bring guidelines and documents into the talk.

    Use it when you know by name what the agent should read.

    ## Conceptual Schema

    `*args`: expressions, one a word, each a category or a collection with patterns after a slash.
    The documents come in this order, each once. Without any, the answer is help with all names.

    ## Usage Instructions

    ```
    @guide
    @guide EXPRESSION [EXPRESSION ...]
    ```

    ## Concrete Examples

    ```
    @guide                         # help, with the categories and collections there are
    @guide lang/python docs/api    # the Python guideline, then the API document
    @guide backend                 # everything in the collection backend
    @guide lang/python+rust        # two documents of one category
    ```
    """
    given = (arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9, arga, argb, argc, argd, arge, argf)
    words = [word.strip() for word in given if word.strip()]
    if not words:
        return _as_text(await guide.look(None, context, _help), "text")
    return _as_text(await get_content(GetContentArgs(expression=",".join(words)), guide, context), "content")


def _as_text(result: Answer, field: str) -> Result[str]:
    """The text of an answer. What it says beyond that goes the same way as in a tool's answer."""
    value = result.value or {}
    text = str(value[field])
    left = [f"{one['path']} is left out. {one['reason']}" for one in value.get("left_out", ())]
    if "remaining" in value:
        left.append(f"{value['remaining']} more documents are left out; get_content with a cursor reads them.")
    return Result[str].ok("\n\n".join([text, *left]), result.message, result.instruction)


def _help(view: View) -> Answer:
    project = view.project
    text = HELP.format(
        project=project.name,
        mode=project.mode,
        categories=", ".join(project.categories) or "none yet; make a folder in the document root",
        collections=", ".join(project.collections) or "none yet",
    )
    return Answer.ok({"text": text}, "How to use @guide.")
