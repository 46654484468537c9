"""Each format for one server with a finding of each kind."""

import io
import json
import re
from importlib.metadata import version
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from tests.toolcharter.verify.fake_rules import RULES, mentions, rule, server, verified
from toolcharter.verify.report import FORMATS, format_for, render
from toolcharter.verify.report.text import print_report
from toolcharter.verify.result import verify_server
from toolcharter.verify.selection import parse_selection

IGNORE = parse_selection([], {"DSC902": "we like it", "SEC901:none": "gone"}, RULES)


def seen():
    return verified(IGNORE, one="It is broken, and vague, vague.", two="It is plain.", three="All is well here.")


def test_text_groups_by_tool_and_says_each_fix_once():
    assert render(seen(), "text") == (
        "one  51\n"
        "  error   SCH901 broken\n"
        "  warning DSC901 vague\n"
        "  warning DSC901 vague\n"
        "\n"
        "How to fix them\n"
        "  SCH901 broken-thing (1). How to fix SCH901.\n"
        "  DSC901 vague-words (2). How to fix DSC901.\n"
        "\n"
        "Ignore entries that are not needed: SEC901:none\n"
        "example: score 84 of 100 (B), 3 tools, about 175 tokens\n"
        "3 findings: 1 error, 2 warnings; 1 ignored\n"
    )


def test_text_of_a_server_without_findings_is_short():
    assert render(verified(one="All is well here."), "text") == (
        "example: score 100 of 100 (A), 1 tool, about 58 tokens\nNo findings by 5 rules\n"
    )


def test_text_stays_readable_with_hundreds_of_findings_at_80_columns():
    many = {f"a_tool_with_a_rather_long_name_{n:03}": "vague " * 5 for n in range(100)}
    out = io.StringIO()
    print_report(verified(**many), Console(file=out, width=80, color_system=None))
    lines = out.getvalue().splitlines()
    assert len(lines) < 150
    assert max(map(len, lines)) <= 80
    text = " ".join(out.getvalue().split())
    assert "and 2 more in this tool" in text
    assert "and 81 more tools with findings; --format json and html show all" in text
    assert "DSC901 vague-words (500). How to fix DSC901. 57 shown, and 443 more." in text


def test_text_shows_the_worst_of_many_tools():
    many = {f"tool_{number:03}": "plain" for number in range(100)} | {"worst": "broken vague"}
    text = render(verified(**many), "text")
    assert text.startswith("the server as a whole\n  warning CST901 101 tools\n\nworst  54\n  error   SCH901 broken\n")
    assert "tool_017" in text
    assert "tool_018" not in text


def test_text_shows_invisible_characters_and_no_markup():
    check = mentions("\x1b[31m [red]\u202e")
    hostile = server(**{"one": "\x1b[31m [red]\u202e", "\x1b]0;x\x07": "fine"})
    text = render(verify_server(hostile, [rule("DSC903", "odd-words", "description", "error", check)]), "text")
    assert "\\u001b[31m [red]\\u202e" in text
    assert "\x1b" not in text


def test_json_has_everything():
    report = json.loads(render(seen(), "json"))
    assert report.pop("tools")[0] == {
        "name": "one",
        "score": 51,
        "grade": "F",
        "tokens": 61,
    }
    vague = {
        "rule": "DSC901",
        "name": "vague-words",
        "family": "description",
        "severity": "warning",
        "tool": "one",
        "path": "description",
        "message": "vague",
        "fix": "How to fix DSC901.",
    }
    assert report == {
        "server": "example",
        "score": 84,
        "grade": "B",
        "tokens": 175,
        "counts": {"error": 1, "warning": 2, "note": 0},
        "failsOn": "warning",
        "failures": 3,
        "findings": [
            vague,
            vague,
            {
                "rule": "SCH901",
                "name": "broken-thing",
                "family": "schema",
                "severity": "error",
                "tool": "one",
                "path": "inputSchema",
                "message": "broken",
                "fix": "How to fix SCH901.",
            },
        ],
        "ignored": [
            {
                "rule": "DSC902",
                "name": "plain-words",
                "family": "description",
                "severity": "note",
                "tool": "two",
                "message": "plain",
                "fix": "How to fix DSC902.",
                "reason": "we like it",
            }
        ],
        "notes": [],
        "unusedIgnores": ["SEC901:none"],
        "rules": ["CST901", "DSC901", "DSC902", "SCH901", "SEC901"],
    }


def test_sarif_has_rules_with_help_logical_locations_and_suppressions():
    log = json.loads(render(verify_server(seen().server, RULES, IGNORE, file="tools.json"), "sarif"))
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    run = log["runs"][0]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("toolcharter", version("toolcharter"))
    assert driver["rules"][1] == {
        "id": "DSC901",
        "name": "vague-words",
        "shortDescription": {"text": "What DSC901 finds."},
        "fullDescription": {"text": "What DSC901 finds. Why DSC901 matters."},
        "help": {
            "text": "Why DSC901 matters. How to fix DSC901.",
            "markdown": "Why DSC901 matters.\n\n**Fix:** How to fix DSC901.",
        },
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["mcp", "description"]},
    }
    broken, plain = run["results"][2:]
    assert re.fullmatch("[0-9a-f]{64}", broken.pop("partialFingerprints")["toolcharter/v1"])
    place = {"artifactLocation": {"uri": "tools.json"}, "region": {"startLine": 1}}
    assert broken == {
        "ruleId": "SCH901",
        "ruleIndex": 3,
        "level": "error",
        "message": {"text": "one: broken"},
        "locations": [
            {
                "logicalLocations": [
                    {"name": "inputSchema", "fullyQualifiedName": "example/one/inputSchema", "kind": "member"}
                ],
                "physicalLocation": place,
            }
        ],
    }
    assert plain["suppressions"] == [{"kind": "external", "status": "accepted", "justification": "we like it"}]
    assert plain["locations"][0]["logicalLocations"] == [
        {"name": "two", "fullyQualifiedName": "example/two", "kind": "function"}
    ]


def test_a_sarif_finding_about_the_whole_server_has_a_place_too():
    log = json.loads(render(verified(a="fine", b="fine", c="fine", d="fine"), "sarif"))
    assert log["runs"][0]["results"][0]["locations"] == [
        {"logicalLocations": [{"name": "example", "fullyQualifiedName": "example", "kind": "module"}]}
    ]


def test_junit_has_one_case_for_each_rule_and_fails_with_the_command():
    suite = ET.fromstring(render(seen(), "junit"))[0]
    assert suite.attrib == {"name": "example", "errors": "0", "tests": "5", "failures": "2", "skipped": "1"}
    cases = {case.get("name"): {part.tag: part for part in case} for case in suite}
    assert list(map(list, cases.values())) == [[], ["failure"], ["skipped"], ["failure"], []]
    assert cases["DSC901 vague-words"]["failure"].attrib == {"type": "warning", "message": "2 findings"}
    assert cases["DSC901 vague-words"]["failure"].text == "one: vague\none: vague\n\nHow to fix DSC901."
    assert cases["DSC902 plain-words"]["skipped"].attrib == {"message": "1 ignored: we like it"}


def test_junit_findings_that_do_not_fail_are_output():
    suite = ET.fromstring(render(verified(one="plain"), "junit"))[0]
    assert suite.get("failures") == "0"
    assert [part.text for part in suite.iter("system-out")] == ["one: plain"]


def test_junit_has_no_characters_that_xml_forbids():
    odd = rule("DSC903", "odd-words", "description", "error", mentions("odd\x00\ufffe\ud800"))
    text = render(verify_server(server(one="odd\x00\ufffe\ud800"), [odd]), "junit")
    assert ET.fromstring(text.encode("utf-8")) is not None


def test_markdown_has_a_table_of_rules_and_folds_the_rest():
    text = render(seen(), "markdown")
    assert text.startswith(
        "## example: score 84 of 100 (B), 3 tools, about 175 tokens\n"
        "\n"
        "3 findings: 1 error, 2 warnings; 1 ignored.\n"
        "\n"
        "| | rule | findings | fix |\n"
        "|---|---|---:|---|\n"
        "| error | SCH901 broken-thing | 1 | How to fix SCH901. |\n"
        "| warning | DSC901 vague-words | 2 | How to fix DSC901. |\n"
        "\n"
        "<details><summary>SCH901 broken-thing: 1</summary>\n"
        "\n"
        "- **one**: broken\n"
        "\n"
        "</details>\n"
    )
    assert "- DSC902: we like it\n" in text
    assert text.endswith("Ignore entries that are not needed: `SEC901:none`.\n")


def test_markdown_takes_no_markup_and_no_mention_from_a_server():
    hostile = "<img src=x> @team [a](http://b) `c` | d"
    text = render(
        verify_server(server(one=hostile), [rule("DSC903", "odd-words", "description", "error", mentions(hostile))]),
        "markdown",
    )
    assert "- **one**: &lt;img src=x> @\\u200bteam" not in text
    assert "- **one**: &lt;img src=x> @\u200bteam \\[a\\](http://b) \\`c\\` \\| d\n" in text


def test_markdown_of_thousands_of_findings_fits_a_comment():
    many = {f"tool_{number}": "broken vague plain " * 3 for number in range(2000)}
    assert len(render(verified(**many), "markdown")) < 65_536


def test_html_is_one_file_with_charts_that_loads_nothing():
    alike = {
        "get_user": "Get the user with this id from our store, vague.",
        "fetch_user": "Fetch the user with this id from our store, vague.",
    }
    text = render(verified(IGNORE, **alike, evil="<script>alert(1)</script> plain"), "html")
    assert re.findall(r'aria-label="([^"]+)"', text) == [
        "Score of each tool, the lowest first",
        "Tokens of each tool, the most expensive first",
        "In common, in per cent",
    ]
    assert re.search("<code>get_user</code></td><td><code>fetch_user</code></td><td>8[0-9]%</td>", text)
    assert "we like it" in text
    assert not re.search(r"<script|https?://(?!www\.w3\.org)|<link|<img|@import|url\(", text)


@pytest.mark.parametrize("severity", ["error", "warning", "note"])
def test_html_shows_each_severity_in_a_colour(severity):
    text = render(verified(one="broken, vague and plain"), "html")
    assert f'<b class="severity {severity}">{severity}</b>' in text
    assert f".severity.{severity}{{color:var(" in text


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_accepts_an_empty_server_and_surrogates(format):
    assert render(verify_server(server(), RULES), format)
    render(verified(**{"bad\ud800": "broken \ud800"}), format).encode("utf-8")


def test_the_name_of_a_file_chooses_the_format(tmp_path):
    named = {name: format_for(tmp_path / f"report{one.suffix}") for name, one in FORMATS.items()}
    assert named == {name: name for name in FORMATS}
    assert format_for(tmp_path / "report") is None
