"""How much is run each day, and how much with `--thorough`, as a nightly run does."""

import os

from hypothesis import settings

VARIABLE = "TOOLCHARTER_TEST_THOROUGH"
DAILY_SHARE = 5


def examples(full: int) -> int:
    """How many random examples a test tries: all of them with `--thorough`, a fifth of them each day."""
    return full if VARIABLE in os.environ else full // DAILY_SHARE


def choose(*, thorough: bool) -> None:
    """Set what `examples` says, here and in processes that are started, and what Hypothesis does by itself."""
    if thorough:
        os.environ[VARIABLE] = "1"
    # A deadline would measure how busy the machine is. Each day tries the same examples, each night new ones.
    settings.register_profile("toolcharter", max_examples=examples(100), deadline=None, derandomize=not thorough)
    settings.load_profile("toolcharter")
