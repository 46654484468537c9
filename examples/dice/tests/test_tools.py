import json
from random import Random

import pytest
from mcp_dice.app import build
from mcp_dice.tools import Roll, roll_dice

from toolcharter import InvalidArguments, Settings


async def test_a_roll_has_a_result_for_each_die_and_their_total():
    assert await roll_dice("3d6", Random(1)) == Roll(rolls=[2, 5, 1], total=8)


async def test_a_wrong_notation_is_an_error_that_shows_a_right_one():
    with pytest.raises(InvalidArguments, match=r"'six' is not a roll.* such as 2d6"):
        await roll_dice("six", Random(1))


async def test_a_call_needs_the_permission():
    async with build(Settings(grants=())) as app:
        answer = await app.call("roll_dice", {"notation": "d20"})
    assert answer.is_error
    assert json.loads(answer.text)["error"].startswith("'roll_dice' needs the permission dice:roll")
