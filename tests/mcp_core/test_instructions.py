import pytest

from mcp_core import instructions


@pytest.mark.requirement("RES-6")
def test_the_fixed_sentences_are_the_standard_ones():
    constants = {name: value for name, value in vars(instructions).items() if name.isupper()}
    assert constants == {
        "PRESENT_ERROR": "Present this error to the user and take no further action.",
        "SWITCH_TO_PLANNING": "Switch to PLANNING mode.",
        "SWITCH_TO_DISCUSSION": "Switch to DISCUSSION mode.",
        "NOW_IN_DISCUSSION": "You are now in DISCUSSION mode.",
        "NOW_IN_PLANNING": "You are now in PLANNING mode.",
        "NOW_IN_IMPLEMENTATION": "You are now in IMPLEMENTATION mode.",
        "NOW_IN_CHECK": "You are now in CHECK mode.",
        "RETURN_TO_CHECK": "Return to CHECK mode.",
        "NO_CHANGES": "Do NOT make any changes to the project.",
        "NO_AUTOMATIC_FIX": "Do NOT attempt to fix this automatically.",
        "REQUIRE_CONSENT": "Require explicit user consent before proceeding.",
        "DECLINED": "The user said no. Do not ask them again, and do not do it in another way.",
        "REQUIRE_REVIEW": "This operation requires user review and approval.",
    }


@pytest.mark.requirement("RES-6")
def test_the_sentences_with_a_gap_are_the_standard_ones():
    assert [
        instructions.suggest_before_retrying("converting it to Markdown"),
        instructions.correct_and_call_again("the arguments"),
        instructions.ask_for_clarification("the deck"),
        instructions.consider("a smaller page"),
        instructions.review_first("the style guide"),
        instructions.validate_with_user("the title"),
    ] == [
        "Suggest converting it to Markdown before retrying.",
        "Correct the arguments, and call again.",
        "Ask the user for clarification on the deck.",
        "Consider a smaller page.",
        "Review the style guide before proceeding.",
        "Validate the title with the user.",
    ]
