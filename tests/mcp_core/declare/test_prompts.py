from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from mcp_core import DeclarationError, PromptArgument, ToolContext, prompt
from mcp_core.declare.completion import Completer
from mcp_core.declare.prompts import prompt_of


class Shelf:
    """Something a prompt needs."""


def test_text_parameters_become_arguments_and_the_docstring_describes_them():
    @prompt()
    async def tell_story(
        hero: str,
        *,
        context: ToolContext,
        shelf: Shelf,
        place: str | None = None,
        mood: Literal["calm", "wild"] = "calm",
        end: Annotated[str, Field(description="How it ends.")] = "",
    ) -> str:
        """Tell a story.

        Make it short.

        Args:
            hero: Who it is about.
            place: Where it happens.
        """
        return hero

    made = prompt_of(tell_story)
    assert (made.name, made.title, made.description) == ("tell_story", "Tell story", "Tell a story.\n\nMake it short.")
    assert made.arguments == (
        PromptArgument("hero", "Who it is about.", required=True),
        PromptArgument("place", "Where it happens.", required=False),
        PromptArgument("mood", None, required=False, completer=Completer(("calm", "wild"))),
        PromptArgument("end", "How it ends.", required=False),
    )
    assert made.handler is tell_story


def test_what_is_declared_goes_before_what_the_function_says():
    @prompt(name="guide", title="The guide", description="Give guidance.", permissions=["docs:read"])
    def show() -> str:
        """Say something else."""
        return ""

    made = prompt_of(show)
    assert (made.name, made.title, made.description) == ("guide", "The guide", "Give guidance.")
    assert made.permissions == ("docs:read",)


def test_a_declared_function_can_still_be_called():
    @prompt()
    def greet(name: str) -> str:
        return f"Hello, {name}!"

    assert greet("Ann") == "Hello, Ann!"


@pytest.mark.parametrize("kind", [list[str], str | int, Any])
def test_an_argument_that_is_no_text_is_refused(kind: Any):
    def count(number: Any) -> str:
        return str(number)

    count.__annotations__["number"] = kind
    with pytest.raises(DeclarationError) as raised:
        prompt()(count)
    assert raised.value.problems == (
        "count: argument number: clients send texts; make it a str, an int, a float, a bool or a choice of texts",
    )


@pytest.mark.parametrize("permissions", ["docs:read", ["docs"], [5]])
def test_a_permission_that_is_none_is_refused(permissions: Any):
    def show() -> str:
        return ""

    with pytest.raises(DeclarationError, match="show: permissions: "):
        prompt(permissions=permissions)(show)
