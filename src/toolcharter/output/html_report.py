"""An HTML report in one file that works offline: text, tables, figures, bars and heat maps. Everything is escaped."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolcharter.output.markup import Html, element, escape, join

_STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8882;--accent:#2563eb;--bar:#3b76ee;--good:#15803d;--bad:#b91c1c;
--warn:#a16207}
@media(prefers-color-scheme:dark){:root{--accent:#7aa7ff;--bar:#4f86f7;--good:#4ade80;--bad:#f87171;--warn:#facc15}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin-bottom:.3rem}
h2{font-size:1.25rem;margin-top:2.5rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}
h3{font-size:1rem;margin:1.4rem 0 .3rem}
code{font:14px/1.45 ui-monospace,monospace}
a{color:var(--accent)}.note{opacity:.75}.good{color:var(--good)}.bad{color:var(--bad)}
.severity.error{color:var(--bad)}.severity.warning{color:var(--warn)}.severity.note{color:var(--accent);opacity:1}
.scroll{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;font-size:.9rem;min-width:40%}
th,td{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600;white-space:nowrap}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.figures{display:flex;flex-wrap:wrap;gap:.8rem;margin:1rem 0}
.figure{border:1px solid var(--line);border-radius:6px;padding:.6rem 1rem;min-width:10rem}
.figure b{display:block;font-size:1.7rem;line-height:1.3;font-variant-numeric:tabular-nums}
.figure small{display:block;opacity:.75}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.5rem .8rem}
summary{cursor:pointer}
svg{display:block;font:13px system-ui,sans-serif;fill:currentColor;max-width:none}
svg .track{fill:var(--soft)}svg .bar{fill:var(--bar)}svg .axis{stroke:var(--line)}
svg .whisker{stroke:currentColor;stroke-width:1.5}svg .cell{stroke:var(--line);stroke-width:.5}
svg .strong{fill:#fff}svg .faint{opacity:.45}
@media print{body{max-width:none;margin:0}details>*{display:block}}
"""

_LETTER = 7.7  # about the width of a letter at 13 px
_MAX_LABEL = 36
_ROW = 26
_BAR = 420
_CELL = 34
_DARK = 0.55  # from this shade on, white text is easier to read


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A bar of a chart. `low` and `high` draw an interval; `caption` stands behind the bar instead of the value."""

    label: str
    value: float
    caption: str = ""
    low: float | None = None
    high: float | None = None


def page(title: str, sections: Iterable[tuple[str, Iterable[str]]], lead: str = "") -> str:
    """A whole page. A section is a heading and its parts; a part that is plain text becomes a paragraph."""
    body = join(
        element("section", element("h2", name) if name else None, map(_part, parts)) for name, parts in sections
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>{_part(lead) if lead else ''}{body}</body></html>\n"
    )


def text(content: str, kind: str = "") -> Html:
    """A paragraph; `kind` is note, good or bad."""
    return element("p", content, class_=kind or None)


def code(content: str) -> Html:
    """Code, such as the name of a tool."""
    return element("code", content)


def severity(name: str) -> Html:
    """A severity in its colour: error, warning or note."""
    return element("b", name, class_=f"severity {name}")


def heading(content: str) -> Html:
    """A heading inside a section."""
    return element("h3", content)


def bullets(items: Iterable[str]) -> Html:
    """A bullet list."""
    return element("ul", [element("li", item) for item in items])


def details(summary: str, parts: Iterable[str], *, is_open: bool = False) -> Html:
    """A part that the reader can unfold."""
    return element("details", element("summary", summary), map(_part, parts), open=is_open)


def figures(items: Iterable[tuple[str, str, str]]) -> Html:
    """The most important figures in large type: name, value, note."""
    tiles = (
        element("div", name, element("b", value), element("small", note), class_="figure")
        for name, value, note in items
    )
    return element("div", tiles, class_="figures")


def table(headings: Sequence[str], rows: Iterable[Sequence[str | float]], caption: str = "") -> Html:
    """A table. A column is aligned right if its first cell is a number."""
    cells = [list(row) for row in rows]
    numeric = [bool(cells) and not isinstance(cells[0][at], str) for at in range(len(headings))]
    head = [_cell("th", name, numeric=is_number) for name, is_number in zip(headings, numeric, strict=True)]
    body = [
        element("tr", [_cell("td", value, numeric=n) for value, n in zip(row, numeric, strict=True)]) for row in cells
    ]
    title = element("caption", caption) if caption else None
    whole = element("table", title, element("thead", element("tr", head)), element("tbody", body))
    return element("div", whole, class_="scroll")


def bar_chart(rows: Sequence[ChartBar], label: str, maximum: float | None = None) -> Html:
    """Horizontal bars, from 0 to `maximum`, or to the largest value."""
    end = maximum or max((row.high or row.value for row in rows), default=0) or 1
    left = min(max((len(row.label) for row in rows), default=0), _MAX_LABEL) * _LETTER + 12
    captions = [row.caption or f"{row.value:g}" for row in rows]
    width = left + _BAR + 16 + max(map(len, captions), default=0) * _LETTER
    height = len(rows) * _ROW + 4
    bars = "".join(
        _bar(row, caption, left, at * _ROW, end) for at, (row, caption) in enumerate(zip(rows, captions, strict=True))
    )
    axis = f'<line class="axis" x1="{left:g}" y1="0" x2="{left:g}" y2="{height}"/>'
    return _svg(label, width, height, bars + axis)


def heat_map(rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]], label: str) -> Html:
    """A table of shaded cells, the largest value darkest. Each cell shows its value; 0 is left empty."""
    maximum = max((value for line in values for value in line), default=0) or 1
    left = min(max((len(name) for name in rows), default=0), _MAX_LABEL) * _LETTER + 12
    # The names of the columns are slanted, so that long ones fit above narrow cells.
    longest = min(max((len(name) for name in columns), default=0), _MAX_LABEL) * _LETTER
    top = longest * 0.71 + 16
    names = "".join(
        f'<text transform="translate({left + at * _CELL + _CELL / 2:g} {top - 6:g}) rotate(-45)">{_short(name)}</text>'
        for at, name in enumerate(columns)
    )
    cells = "".join(
        f'<text x="{left - 8:g}" y="{top + at * _CELL + _CELL / 2 + 4:g}" text-anchor="end">{_short(name)}</text>'
        + "".join(
            _shaded_cell(f"{name}, {column}", value, value / maximum, left + place * _CELL, top + at * _CELL)
            for place, (column, value) in enumerate(zip(columns, line, strict=True))
        )
        for at, (name, line) in enumerate(zip(rows, values, strict=True))
    )
    return _svg(label, left + len(columns) * _CELL + longest * 0.71 + 8, top + len(rows) * _CELL + 4, names + cells)


# ---- pieces --------------------------------------------------------------------------------------


def _part(content: str) -> Html:
    return content if isinstance(content, Html) else text(content)


def _cell(tag: str, value: str | float, *, numeric: bool) -> Html:
    return element(tag, value if isinstance(value, str) else f"{value:g}", class_="number" if numeric else None)


def _short(name: str) -> str:
    """A label that fits. The tooltip shows the whole name."""
    if len(name) <= _MAX_LABEL:
        return escape(name)
    return f"{escape(name[: _MAX_LABEL - 1])}…<title>{escape(name)}</title>"


def _svg(label: str, width: float, height: float, inner: str) -> Html:
    title = escape(label)
    return Html(
        f'<div class="scroll"><svg role="img" aria-label="{title}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"><title>{title}</title>{inner}</svg></div>'
    )


def _bar(row: ChartBar, caption: str, left: float, top: float, end: float) -> str:
    length = max(0.0, min(row.value / end, 1.0)) * _BAR
    whisker = ""
    if row.low is not None and row.high is not None:
        start, stop, middle = (
            left + row.low / end * _BAR,
            left + min(row.high / end, 1) * _BAR,
            top + _ROW / 2,
        )
        ends = "".join(f"M{x:.1f} {middle - 4:g}v8" for x in (start, stop))
        whisker = f'<path class="whisker" d="M{start:.1f} {middle:g}H{stop:.1f}{ends}"/>'
    return (
        f"<g><title>{escape(row.label)}: {escape(caption)}</title>"
        f'<text x="{left - 8:g}" y="{top + 18:g}" text-anchor="end">{_short(row.label)}</text>'
        f'<rect class="track" x="{left:g}" y="{top + 5:g}" width="{_BAR}" height="{_ROW - 9}"/>'
        f'<rect class="bar" x="{left:g}" y="{top + 5:g}" width="{length:.1f}" height="{_ROW - 9}"/>{whisker}'
        f'<text x="{left + _BAR + 8:g}" y="{top + 18:g}">{escape(caption)}</text></g>'
    )


def _shaded_cell(name: str, value: float, part: float, x: float, y: float) -> str:
    shade = f"{0.12 + 0.88 * part:.2f}" if value else "0"
    kind = "strong" if part >= _DARK else ""
    number = (
        f'<text class="{kind}" x="{x + _CELL / 2:g}" y="{y + _CELL / 2 + 4:g}" text-anchor="middle">{value:g}</text>'
    )
    return (
        f"<g><title>{escape(name)}: {value:g}</title>"
        f'<rect class="bar cell" fill-opacity="{shade}" x="{x:g}" y="{y:g}" width="{_CELL}" height="{_CELL}"/>'
        f"{number if value else ''}</g>"
    )
