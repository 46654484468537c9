"""A page for people, in the console of every site that serves the dice."""

from starlette.responses import Response

from toolcharter.console import ConsolePage, ToolFailed, View, element


async def show(view: View) -> Response:
    """Roll what the address asks for, with the tool that agents have, and the rights of the person who looks."""
    notation = view.parameter("notation") or "2d6"
    try:
        roll = (await view.call(view.app("dice"), "roll_dice", {"notation": notation})).value
        result = f"{' + '.join(map(str, roll['rolls']))} = {roll['total']}"
    except ToolFailed as error:
        result = str(error)
    form = element(
        "form",
        element("label", "Dice", for_="notation"),
        element("input", id="notation", name="notation", value=notation),
        element("button", "Roll"),
    )
    return view.page("Dice", element("h1", "Dice"), element("p", result), form)


PAGES = [ConsolePage("/console/dice", show, label="Dice", place=70)]
