import re
import xml.etree.ElementTree as ET

from toolcharter.output import html_report
from toolcharter.output.html_report import ChartBar

NASTY = "<script>alert(1)</script>\"'&"


def drawing(markup: str) -> ET.Element:
    """The SVG of a chart, parsed strictly: an open tag or unescaped text is an error."""
    found = re.search(r"<svg.*</svg>", markup, re.DOTALL)
    assert found is not None
    return ET.fromstring(found[0])


def test_a_page_loads_nothing_from_elsewhere():
    page = html_report.page(
        "A report",
        [
            (
                "Charts",
                [html_report.bar_chart([ChartBar("a", 1)], "One"), html_report.heat_map(["a"], ["b"], [[1]], "Two")],
            )
        ],
    )
    assert [mark for mark in ("src=", "href=", "@import", "url(", "<script", "http") if mark in page] == []


def test_shown_text_cannot_become_markup():
    page = html_report.page(
        NASTY,
        [
            (
                NASTY,
                [
                    NASTY,
                    html_report.text(NASTY, "note"),
                    html_report.heading(NASTY),
                    html_report.code(NASTY),
                    html_report.bullets([NASTY]),
                    html_report.details(NASTY, [NASTY]),
                    html_report.figures([(NASTY, NASTY, NASTY)]),
                    html_report.table([NASTY], [[NASTY]], NASTY),
                    html_report.bar_chart([ChartBar(NASTY, 1, NASTY)], NASTY),
                    html_report.heat_map([NASTY], [NASTY], [[1]], NASTY),
                ],
            )
        ],
        lead=NASTY,
    )
    assert "<script" not in page
    assert page.count("&lt;script&gt;") > 15


def test_a_table_aligns_numbers_right_and_keeps_markup():
    table = html_report.table(["tool", "n"], [[html_report.code("add"), 3], ["a<b", 0.25]])
    assert table == (
        '<div class="scroll"><table><thead><tr><th>tool</th><th class="number">n</th></tr></thead><tbody>'
        '<tr><td><code>add</code></td><td class="number">3</td></tr>'
        '<tr><td>a&lt;b</td><td class="number">0.25</td></tr></tbody></table></div>'
    )


def test_bars_are_as_long_as_their_values_and_say_them_in_words():
    chart = drawing(html_report.bar_chart([ChartBar("whole", 4), ChartBar("half", 2, "2 of 4", 1, 3)], "Counts"))
    lengths = [float(bar.attrib["width"]) for bar in chart.iter("rect") if bar.attrib["class"] == "bar"]
    assert lengths == [420.0, 210.0]
    assert chart.attrib["aria-label"] == "Counts"
    assert [title.text for title in chart.iter("title")] == ["Counts", "whole: 4", "half: 2 of 4"]
    assert len(list(chart.iter("path"))) == 1


def test_a_heat_map_writes_each_value_in_its_cell_and_leaves_zero_empty():
    chart = drawing(html_report.heat_map(["a", "b"], ["x", "y"], [[4, 0], [1, 2]], "Counts"))
    titles = [title.text for title in chart.iter("title")]
    assert titles == ["Counts", "a, x: 4", "a, y: 0", "b, x: 1", "b, y: 2"]
    assert [words.text for words in chart.iter("text")] == ["x", "y", "a", "4", "b", "1", "2"]
    assert [float(cell.attrib["fill-opacity"]) for cell in chart.iter("rect")] == [1.0, 0.0, 0.34, 0.56]


def test_a_long_name_is_cut_in_the_chart_and_whole_in_its_tooltip():
    name = "a_name_" * 10
    chart = drawing(html_report.bar_chart([ChartBar(name, 1)], "Counts"))
    label = next(chart.iter("text"))
    assert label.text == name[:35] + "…"
    assert [inner.text for inner in label] == [name]


def test_an_empty_chart_is_still_a_drawing():
    assert drawing(html_report.bar_chart([], "Nothing")).attrib["aria-label"] == "Nothing"
    assert drawing(html_report.heat_map([], [], [], "Nothing")).attrib["aria-label"] == "Nothing"
