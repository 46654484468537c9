"""The standard vocabulary for `instruction`: what an answer asks the agent to do next.

Constants for fixed sentences, functions for sentences with a parameter. They can be joined with a space.
"""

# Error handling
PRESENT_ERROR = "Present this error to the user and take no further action."


def suggest_before_retrying(remediation: str) -> str:
    """The agent may correct it and try again."""
    return f"Suggest {remediation} before retrying."


def ask_for_clarification(aspect: str) -> str:
    """The agent should ask the person."""
    return f"Ask the user for clarification on {aspect}."


def correct_and_call_again(what: str) -> str:
    """The agent corrects it and tries again by itself."""
    return f"Correct {what}, and call again."


# Mode control
SWITCH_TO_PLANNING = "Switch to PLANNING mode."
SWITCH_TO_DISCUSSION = "Switch to DISCUSSION mode."
NOW_IN_DISCUSSION = "You are now in DISCUSSION mode."
NOW_IN_PLANNING = "You are now in PLANNING mode."
NOW_IN_IMPLEMENTATION = "You are now in IMPLEMENTATION mode."
NOW_IN_CHECK = "You are now in CHECK mode."
RETURN_TO_CHECK = "Return to CHECK mode."

# Operational boundaries
NO_CHANGES = "Do NOT make any changes to the project."
NO_AUTOMATIC_FIX = "Do NOT attempt to fix this automatically."
REQUIRE_CONSENT = "Require explicit user consent before proceeding."
DECLINED = "The user said no. Do not ask them again, and do not do it in another way."
REQUIRE_REVIEW = "This operation requires user review and approval."


# Guidance
def consider(alternative: str) -> str:
    """Another way exists."""
    return f"Consider {alternative}."


def review_first(document: str) -> str:
    """Something should be read first."""
    return f"Review {document} before proceeding."


def validate_with_user(aspect: str) -> str:
    """The person should confirm an assumption."""
    return f"Validate {aspect} with the user."
