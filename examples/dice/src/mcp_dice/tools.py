"""The tools of the dice server."""

import re
from random import Random

from pydantic import BaseModel

from toolcharter import Example, InvalidArguments, tool

NOTATION = re.compile(r"([1-9]\d?)?d([1-9]\d{0,2})")

rolls = tool.generation.preset(permissions=["dice:roll"], tags=["dice"], response_time="fast", open_world=False)


class Roll(BaseModel):
    """The result of roll_dice."""

    rolls: list[int]
    total: int


@rolls(examples=[Example("Two dice", {"notation": "2d6"}, {"rolls": ["<number>", "<number>"], "total": "<number>"})])
async def roll_dice(notation: str, random: Random) -> Roll:
    """Roll dice and add up the results.

    Use this when the user wants to roll dice or needs a random number from 1 to 999.

    Args:
        notation: The number of dice and of their sides, such as 2d6 for two dice with six sides.

    Returns:
        The result of each die, and the total.
    """
    match = NOTATION.fullmatch(notation)
    if match is None:
        raise InvalidArguments(
            f"{notation!r} is not a roll. Write the number of dice, d, and the number of sides, such as 2d6.",
            fields=["notation"],
        )
    results = [random.randint(1, int(match[2])) for _ in range(int(match[1] or 1))]
    return Roll(rolls=results, total=sum(results))
