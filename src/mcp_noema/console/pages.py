"""A page to review cards, and one with statistics. Everything comes from the tools that an agent has."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from mcp_noema.console.charts import Bar, bars, calendar, figure
from toolcharter.console import ConsolePage, Html, ToolFailed, View, element, join
from toolcharter.declarations import ToolRegistry
from toolcharter.plurals import count

PATH, STATISTICS_PATH = "/console/learn", "/console/learn/statistics"
_DECKS = 200
_YEAR, _FORECAST = 366, 30
_TOOLS = {
    "next": "review-next-card",
    "grade": "review-card",
    "undo": "undo-review",
    "card": "get-card",
    "edit": "update-note",
    "bury": "bury-cards",
    "suspend": "suspend-cards",
}
"""The tools that the buttons call. Those whose tool the viewer may not use are not shown."""
_FILES = ["noema.css"]


async def _study(view: View) -> Response:
    app, deck = view.app("noema"), view.parameter("deck")
    offered = view.offer(app).tools
    finals = {key: _final_name(app.registry, tool) for key, tool in _TOOLS.items()}
    names = {f"data_{key}": name for key, name in finals.items() if name in offered}
    waiting = element("p", "Reviewing needs JavaScript.", class_="note")
    place = element("section", waiting, id="study", data_server=app.name, data_deck=deck, aria_live="polite", **names)
    try:
        decks = await _decks(view)
    except ToolFailed as error:
        return _refused(view, error)
    return view.page("Learn", _heading("Learn", deck), _choose(decks, deck, PATH), place, scripts=[*_FILES, "noema.js"])


async def _statistics(view: View) -> Response:
    app, deck = view.app("noema"), view.parameter("deck")
    chosen = {"deckId": deck} if deck else {}
    try:
        decks = await _decks(view)
        progress = (await view.call(app, "get-progress", {"days": _YEAR, "forecastDays": _FORECAST, **chosen})).value
        details = (await view.call(app, "get-deck-stats", {"distribution": True, **chosen})).value if deck else None
    except ToolFailed as error:
        return _refused(view, error)
    charts = await asyncio.to_thread(_charts, progress, details)
    return view.page(
        "Statistics",
        _heading("Statistics", deck),
        _choose(decks, deck, STATISTICS_PATH),
        _summary(progress),
        charts,
        scripts=_FILES,
    )


def _refused(view: View, error: ToolFailed) -> Response:
    problem = element("p", str(error), class_="problem", role="alert")
    others = element("p", element("a", "All decks", href=PATH))
    return view.page("Learn", element("h1", "Learn"), problem, others, scripts=_FILES, status=400)


def _heading(title: str, deck: str) -> Html:
    query = "?" + urlencode({"deck": deck}) if deck else ""
    other = (
        element("a", "Statistics", href=STATISTICS_PATH + query)
        if title == "Learn"
        else element("a", "Learn", href=PATH + query)
    )
    return element("div", element("h1", title), other, class_="row apart")


async def _decks(view: View) -> Sequence[Mapping[str, Any]]:
    return (await view.call(view.app("noema"), "list-decks", {"limit": _DECKS})).value["decks"]


def _choose(decks: Sequence[Mapping[str, Any]], deck: str, path: str) -> Html:
    options = [element("option", "All decks", value="")]
    options += [
        element("option", _with_waiting(one), value=one["deckId"], selected=one["deckId"] == deck) for one in decks
    ]
    return element(
        "form",
        element("label", "Deck", for_="deck"),
        element("div", element("select", options, id="deck", name="deck"), element("button", "Show", class_="quiet")),
        method="get",
        action=path,
        class_="deck",
    )


def _with_waiting(deck: Mapping[str, Any]) -> str:
    waiting = [f"{deck[key]} {key}" for key in ("due", "learning", "new") if deck.get(key)]
    return f"{deck['name']} ({', '.join(waiting)})" if waiting else str(deck["name"])


# --- statistics --------------------------------------------------------------------------------------------


def _summary(progress: Mapping[str, Any]) -> Html:
    today, year = progress["today"], progress["period"]
    facts = {
        "Today": f"{count(today['reviews'], 'review')}, {today['minutes']} minutes",
        "Streak": count(progress["streak"], "day"),
        "Last year": f"{count(year['reviews'], 'review')} on {count(year['daysStudied'], 'day')}",
        "Remembered": f"{_percent(year['retention'])}; you asked for {_percent(progress['desiredRetention'])}",
        "New cards waiting": str(progress["newWaiting"]),
    }
    return element(
        "dl", [join(element("dt", name), element("dd", text)) for name, text in facts.items()], class_="facts"
    )


def _percent(share: float | None) -> str:
    return "not known yet" if share is None else f"{share:.0%}"


def _charts(progress: Mapping[str, Any], details: Mapping[str, Any] | None) -> Html:
    charts = [_calendar(progress), _forecast(progress), _retention(progress)]
    if details is not None:
        charts += [_intervals(details), _difficulties(details)]
    else:
        charts.append(element("p", "Choose a deck to see its intervals and difficulties.", class_="note"))
    return element("div", charts, class_="charts")


def _calendar(progress: Mapping[str, Any]) -> Html:
    reviews = {date.fromisoformat(day["date"]): int(day["reviews"]) for day in progress["daily"]}
    drawing = calendar(reviews, date.fromisoformat(progress["period"]["to"]))
    rows = [(day.isoformat(), str(number)) for day, number in reviews.items()]
    return figure("Reviews of the last year", drawing, ("Day", "Reviews"), rows)


def _forecast(progress: Mapping[str, Any]) -> Html:
    days = [Bar(day["date"][5:], day["due"], count(day["due"], "card")) for day in progress["forecast"]]
    rows = [(day["date"], str(day["due"])) for day in progress["forecast"]]
    return figure("Due in the next 30 days", bars(days), ("Day", "Cards due"), rows, "Today includes overdue cards.")


def _retention(progress: Mapping[str, Any]) -> Html:
    desired, months = progress["desiredRetention"], progress["monthly"]
    drawn = bars(
        [Bar(m["month"][2:], m["retention"] or 0, _percent(m["retention"])) for m in months],
        desired,
        Bar("", 1.0, "100%"),
    )
    rows = [(m["month"], _percent(m["retention"]), str(m["reviews"])) for m in months]
    note = f"The line is what you asked for: {_percent(desired)}." if desired else ""
    return figure("Remembered, by month", drawn, ("Month", "Remembered", "Reviews"), rows, note)


def _intervals(details: Mapping[str, Any]) -> Html:
    names = [f"≤ {one['days']} d" if one["days"] else "longer" for one in details["intervals"]]
    numbers = [one["cards"] for one in details["intervals"]]
    drawn = bars([Bar(name, number, count(number, "card")) for name, number in zip(names, numbers, strict=True)])
    rows = [(name, str(number)) for name, number in zip(names, numbers, strict=True)]
    return figure("Intervals", drawn, ("Interval", "Cards"), rows, "Days between the last review and the next.")


def _difficulties(details: Mapping[str, Any]) -> Html:
    found = [(str(one["difficulty"]), one["cards"]) for one in details["difficulties"]]
    drawn = bars([Bar(level, cards, count(cards, "card")) for level, cards in found])
    note = "1 is easy, 10 is hard."
    return figure("Difficulty", drawn, ("Difficulty", "Cards"), [(level, str(cards)) for level, cards in found], note)


def _final_name(registry: ToolRegistry, tool: str) -> str:
    spec = registry.get(tool)
    return registry.final_name(spec) if spec else tool


PAGES = [ConsolePage(PATH, _study, "Learn", 50), ConsolePage(STATISTICS_PATH, _statistics)]
