"""Charts as SVG. Each has its figures as a table, for those who cannot see it."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from toolcharter.console import Html, element, join

_WIDTH, _HEIGHT = 420, 120
_TOP, _BOTTOM = 18, 24
_CELL, _GAP = 11, 3
_MAX_LABELS = 10
_LEVELS = 4


class Bar(NamedTuple):
    """One bar: what it stands for, its height, and the height in words."""

    label: str
    value: float
    words: str


def figure(title: str, drawing: Html, head: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> Html:
    """A drawing with its title, and its figures as a table."""
    table = element(
        "table",
        element("thead", element("tr", [element("th", word, scope="col") for word in head])),
        element("tbody", [element("tr", [element("td", word) for word in row]) for row in rows]),
    )
    return element(
        "figure",
        element("figcaption", element("h2", title), element("p", note, class_="note") if note else None),
        drawing,
        element("details", element("summary", "As a table"), element("div", table, class_="scroll", tabindex="0")),
        class_="card chart",
    )


def bars(bars: Sequence[Bar], line: float | None = None, highest: Bar | None = None) -> Html:
    """Bars beside each other, and a line at a height that they are compared with. `highest` is the top of the scale."""
    highest = highest or max(bars, key=lambda bar: bar.value, default=Bar("", 0, ""))
    top = highest.value or 1
    step = _WIDTH / max(1, len(bars))
    every = -(-len(bars) // _MAX_LABELS)
    drawn = [_bar(bar, index, step, top, with_label=index % every == 0) for index, bar in enumerate(bars)]
    across = _HEIGHT * (1 - (line or 0) / top)
    compared = element("line", x1=0, x2=_WIDTH, y1=_px(across), y2=_px(across), class_="compared") if line else None
    scale = join(
        element("line", x1=0, x2=_WIDTH, y1=0, y2=0, class_="scale"),
        element("text", highest.words if highest.value else "", x=0, y=-5),
        element("line", x1=0, x2=_WIDTH, y1=_HEIGHT, y2=_HEIGHT, class_="scale"),
    )
    return element("div", _svg(_WIDTH, _HEIGHT + _BOTTOM, scale, drawn, compared, above=_TOP), class_="bars")


def _bar(bar: Bar, index: int, step: float, top: float, *, with_label: bool) -> Html:
    height = _HEIGHT * min(bar.value, top) / top
    x, width = step * index + step * 0.1, step * 0.8
    title = element("title", f"{bar.label}: {bar.words}")
    rectangle = element("rect", title, x=_px(x), y=_px(_HEIGHT - height), width=_px(width), height=_px(height), rx=2)
    if not with_label:
        return rectangle
    return join(rectangle, element("text", bar.label, x=_px(x + width / 2), y=_HEIGHT + 16, text_anchor="middle"))


def calendar(counts: dict[date, int], last: date, weeks: int = 53) -> Html:
    """A square for each day: a column is a week, from Monday to Sunday."""
    first = last - timedelta(days=last.weekday(), weeks=weeks - 1)
    most = max(counts.values(), default=0) or 1
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    squares = [_square(day, (day - first).days, counts.get(day, 0), most) for day in days]
    months = [
        element("text", f"{day:%b}", x=_px((day - first).days // 7 * (_CELL + _GAP)), y=10)
        for day in days
        if day.weekday() == 0 and day.month != (day - timedelta(weeks=1)).month
    ]
    drawing = _svg(weeks * (_CELL + _GAP), 7 * (_CELL + _GAP) + 16, months, *squares)
    return element(
        "div", drawing, class_="scroll calendar", tabindex="0", role="region", aria_label="A square for each day"
    )


def _square(day: date, number: int, reviews: int, most: int) -> Html:
    x, y = number // 7 * (_CELL + _GAP), 16 + number % 7 * (_CELL + _GAP)
    level = -(-reviews * _LEVELS // most)
    title = element("title", f"{day.isoformat()}: {reviews}")
    return element("rect", title, x=x, y=y, width=_CELL, height=_CELL, rx=2, class_=f"level-{level}")


def _svg(width: float, height: float, *content: "Html | list[Html] | None", above: float = 0) -> Html:
    # The table says the same, so that a screen reader need not read hundreds of squares.
    box = f"0 {_px(-above)} {_px(width)} {_px(height + above)}"
    return element("svg", *content, viewBox=box, aria_hidden="true", focusable="false")


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
