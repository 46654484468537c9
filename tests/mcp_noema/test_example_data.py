from datetime import UTC, datetime
from functools import partial

import pytest

from mcp_noema.app import build
from mcp_noema.model import ClockAndRandom
from mcp_noema.settings import NoemaSettings
from toolcharter.local.examples import declared_examples, run_example


@pytest.mark.parametrize("tool", ["review-card", "review-next-card", "get-due-cards", "undo-review"])
async def test_the_examples_hold_a_minute_before_a_learning_day_begins(tool):
    just_before_four = partial(build, clock=ClockAndRandom(lambda: datetime(2026, 11, 18, 3, 59, tzinfo=UTC)))
    settings = NoemaSettings(deadline=60)
    examples = declared_examples(just_before_four(settings), tool)
    assert examples
    for spec, example in examples:
        result = await run_example(just_before_four, spec, example, settings)
        assert result.differences == ()
