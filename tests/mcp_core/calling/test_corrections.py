"""An agent's natural first call is read where it means one thing; a tool that may destroy shows the corrected call."""

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from mcp_core import App, Confirm, Result
from tests.mcp_core.declared import mutation, query


class Options(BaseModel, extra="forbid"):
    tags: Annotated[list[str], Field(description="Labels.")] = []
    grade: Annotated[Literal["again", "very-good"] | None, Field(description="How it went.")] = None


@query({"card_id": "card_1"}, synonyms={"rating": "options.grade", "text": "words"}, cache_ttl=60)
async def look(  # noqa: PLR0917 - the arguments of an agent
    card_id: Annotated[str, Field(description="Which card.")],
    limit: Annotated[int, Field(ge=1, le=9, description="How many.")] = 1,
    share: Annotated[float | None, Field(description="A share.")] = None,
    exact: Annotated[bool, Field(description="Whether it is exact.")] = False,
    words: Annotated[str | list[int], Field(description="A text, or numbers.")] = "",
    options: Annotated[Options | None, Field(description="More.")] = None,
) -> Any:
    return [card_id, limit, share, exact, words, None if options is None else options.model_dump()]


ONLY = {"tags": [], "grade": None}
READ: dict[str, tuple[dict[str, Any], list[Any], str]] = {
    "a number as text": ({"limit": "5"}, ["c", 5, None, False, "", None], 'limit: "5" was read as 5'),
    "a fraction as text": ({"share": "0.5"}, ["c", 1, 0.5, False, "", None], 'share: "0.5" was read as 0.5'),
    "a boolean as text": ({"exact": "True"}, ["c", 1, None, True, "", None], 'exact: "True" was read as true'),
    "a whole number with a point": ({"limit": 5.0}, ["c", 5, None, False, "", None], "limit: 5.0 was read as 5"),
    "another style": ({"cardId": "c", "card_id": None}, [], ""),
    "a choice in another case": (
        {"options": {"grade": "Very Good"}},
        ["c", 1, None, False, "", {"tags": [], "grade": "very-good"}],
        'options.grade: "Very Good" was read as "very-good"',
    ),
    "a single value for a list": (
        {"options": {"tags": "a"}},
        ["c", 1, None, False, "", {"tags": ["a"], "grade": None}],
        'options.tags: "a" was read as ["a"]',
    ),
    "a list as JSON text": (
        {"options": {"tags": '["a","b"]'}},
        ["c", 1, None, False, "", {"tags": ["a", "b"], "grade": None}],
        'options.tags: "[\\"a\\",\\"b\\"]" was read as ["a", "b"]',
    ),
    "an object as JSON text": (
        {"options": '{"tags": ["a"]}'},
        ["c", 1, None, False, "", {"tags": ["a"], "grade": None}],
        'options: "{\\"tags\\": [\\"a\\"]}" was read as {"tags": ["a"]}',
    ),
    "a declared synonym": ({"text": "x"}, ["c", 1, None, False, "x", None], "text was read as words"),
    "a synonym inside another argument, in another case": (
        {"rating": "AGAIN"},
        ["c", 1, None, False, "", {"tags": [], "grade": "again"}],
        'rating was read as options.grade; options.grade: "AGAIN" was read as "again"',
    ),
    "a name that another argument has": (
        {"tags": ["a"]},
        ["c", 1, None, False, "", {"tags": ["a"], "grade": None}],
        "tags was read as options.tags",
    ),
}
del READ["another style"]


@pytest.mark.requirement("PRO-7")
@pytest.mark.parametrize("name", READ)
async def test_a_call_that_means_one_thing_works_and_says_how_it_was_read(name: str):
    arguments, value, note = READ[name]
    async with App("cards", tools=[look]) as app:
        first, again = [await app.call("look", {"card_id": "c", **arguments}) for _ in range(2)]
        plain = await app.call("look", {"card_id": "c"})
    # Also where the answer comes from the cache.
    assert first.content() == again.content() == [
        {"type": "text", "text": json.dumps(value, separators=(",", ":"))},
        {"type": "text", "text": f"Note: {note}."},
    ]  # fmt: skip
    assert len(plain.content()) == 1


async def test_a_name_in_another_style_is_read():
    async with App("cards", tools=[look]) as app:
        answer = await app.call("look", {"cardId": "c"})
        both = await app.call("look", {"cardId": "c", "card_id": "d"})
    assert answer.content()[1]["text"] == "Note: cardId was read as card_id."
    assert both.is_error


AMBIGUOUS: dict[str, tuple[dict[str, Any], str]] = {
    "true for a number": ({"limit": True}, "limit: input should be a valid integer, got true"),
    "words for a number": ({"limit": "five"}, 'limit: input should be a valid integer, got "five"'),
    "a number out of its bounds": ({"limit": "50"}, "limit: input should be less than or equal to 9, got 50"),
    "an unknown choice": ({"rating": "easy"}, "options.grade: input should be 'again' or 'very-good', got \"easy\""),
    "an unknown name": ({"color": 1}, "color: is not an argument here; it takes card_id, limit,"),
}


@pytest.mark.requirement("PRO-7")
@pytest.mark.parametrize("name", AMBIGUOUS)
async def test_a_call_that_could_mean_several_things_is_refused(name: str):
    arguments, words = AMBIGUOUS[name]
    async with App("cards", tools=[look]) as app:
        answer = await app.call("look", {"card_id": "c", **arguments})
    assert answer.is_error
    assert words in json.loads(answer.text)["error"]


class Fields(BaseModel, extra="forbid"):
    priority: Annotated[str, Field(description="How urgent.")] = ""


class More(BaseModel, extra="forbid"):
    title: Annotated[str, Field(description="Of the page.")] = ""
    fields: Annotated[Fields | None, Field(description="Fields.")] = None


@mutation({"pages": ["p"]}, destructive=True)
async def wipe(
    pages: Annotated[list[str], Field(description="Which pages.")],
    parameters: Annotated[More | None, Field(description="More.")] = None,
) -> int:
    raise AssertionError("it was carried out")


@pytest.mark.requirement("PRO-7")
async def test_a_tool_that_may_destroy_never_guesses_and_shows_the_corrected_call():
    async with App("pages", tools=[wipe], format="result") as app:
        answer = await app.call("wipe", {"pages": "p", "parameters": {"priority": "High"}})
    error = json.loads(answer.text)["error"]
    assert error == (
        "Invalid arguments for 'wipe': pages: input should be a valid array, got \"p\"; "
        "parameters.priority: belongs into parameters.fields. "
        'Corrected call: wipe {"pages":["p"],"parameters":{"fields":{"priority":"High"}}}'
    )


async def test_nothing_is_read_as_the_consent_of_the_person():
    @mutation({"page": "p", "explicit_action": "WIPE"}, confirm=Confirm("WIPE"), destructive=False)
    async def clear(page: Annotated[str, Field(description="Which page.")]) -> Result[int]:
        raise AssertionError("it was carried out")

    async with App("pages", tools=[clear], format="result") as app:
        for given in ({"explicit_action": "wipe"}, {"explicitAction": "WIPE"}, {}):
            answer = await app.call("clear", {"page": 5, **given})
            assert answer.is_error
            assert "Corrected" not in answer.text


async def test_nothing_is_read_as_a_literal_with_one_value():
    @mutation({"mode": "work"}, destructive=False)
    async def switch(
        mode: Annotated[Literal["plan", "work"], Field(description="Which.")],
        user_consent: Annotated[Literal["WORK"] | None, Field(description="States that the user agreed.")] = None,
    ) -> str:
        return f"{mode} {user_consent}"

    async with App("modes", tools=[switch]) as app:
        for given in ({"user_consent": "work"}, {"userConsent": "WORK"}):
            assert (await app.call("switch", {"mode": "Work", **given})).is_error
        assert (await app.call("switch", {"mode": "Work", "user_consent": "WORK"})).text == "work WORK"


async def test_a_note_has_no_secret():
    @query({"password": "x"})
    async def log_in(password: Annotated[str, Field(description="The password.")]) -> str:
        return "in"

    async with App("door", tools=[log_in]) as app:
        answer = await app.call("log_in", {"password": 4711})
    assert [block["text"] for block in answer.content()] == ["in", "Note: some arguments were corrected."]
